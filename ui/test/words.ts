// The words of a host in the languages of tidings, for looking at them: forms in CLDR's order, names of people and things.

/** The category, the type's title and sentence, the text of its button, two people, two things, what one of them wrote. */
type Words = [category: string, title: string, sentence: string, action: string, people: [string, string], things: [string, string], body: string];

export const words: Record<string, Words> = {
  en: ["Comments", "new {count|comment|comments}", "{actor} commented on {object}", "Reply", ["Ines Marchetti", "Otto Brandt"], ["Water Lilies", "Tide Table"], "The reflections on the left look restored to me. Do we know when that was done?"],
  de: ["Kommentare", "{count|neuer Kommentar|neue Kommentare}", "{actor} {actors|hat|haben} „{object}“ kommentiert", "Antworten", ["Jürgen Weiß", "Änne Grünewald-Schäfer"], ["Seerosen", "Gezeitentafel"], "Die Spiegelungen links sehen restauriert aus. Wissen wir, wann das geschehen ist?"],
  fr: ["Commentaires", "{count|nouveau commentaire|nouveaux commentaires}", "{actor} {actors|a|ont} commenté «\u00a0{object}\u00a0»", "Répondre", ["Hélène Lefèvre", "François Garçon"], ["Nymphéas", "Table des marées"], "Les reflets à gauche semblent avoir été restaurés. Sait-on quand\u00a0?"],
  es: ["Comentarios", "{count|comentario nuevo|comentarios nuevos}", "{actor} {actors|ha|han} comentado «{object}»", "Responder", ["Íñigo Núñez", "Lucía Peña"], ["Nenúfares", "Tabla de mareas"], "Los reflejos de la izquierda parecen restaurados. ¿Sabemos cuándo se hizo?"],
  pt: ["Comentários", "{count|novo comentário|novos comentários}", "{actor} {actors|comentou|comentaram} “{object}”", "Responder", ["João Conceição", "Inês Guimarães"], ["Nenúfares", "Tábua de marés"], "Os reflexos à esquerda parecem restaurados. Sabemos quando isso foi feito?"],
  it: ["Commenti", "{count|nuovo commento|nuovi commenti}", "{actor} {actors|ha|hanno} commentato «{object}»", "Rispondi", ["Nicolò Rossi", "Beatrice D’Angelo"], ["Ninfee", "Tavola delle maree"], "I riflessi a sinistra sembrano restaurati. Sappiamo quando è successo?"],
  nl: ["Reacties", "{count|nieuwe reactie|nieuwe reacties}", "{actor} {actors|heeft|hebben} op ‘{object}’ gereageerd", "Antwoorden", ["Daniëlle van den Berg", "Sjoerd IJsselstein"], ["Waterlelies", "Getijdentafel"], "De weerspiegelingen links lijken gerestaureerd. Weten we wanneer dat is gebeurd?"],
  pl: ["Komentarze", "{count|nowy komentarz|nowe komentarze|nowych komentarzy}", "{actor} {actors|komentuje|komentują|komentuje}: „{object}”", "Odpowiedz", ["Łukasz Wiśniewski", "Małgorzata Żółkiewska"], ["Lilie wodne", "Tabela pływów"], "Odbicia po lewej wyglądają na odrestaurowane. Czy wiemy, kiedy to zrobiono?"],
  ru: ["Комментарии", "{count|новый комментарий|новых комментария|новых комментариев}", "{actor} {actors|комментирует|комментируют|комментируют}: «{object}»", "Ответить", ["Алёна Щербакова", "Фёдор Юрьев"], ["Водяные лилии", "Таблица приливов"], "Отражения слева выглядят отреставрированными. Известно, когда это сделали?"],
  uk: ["Коментарі", "{count|новий коментар|нові коментарі|нових коментарів}", "{actor} {actors|коментує|коментують|коментують}: «{object}»", "Відповісти", ["Ґалаґан Їжакевич", "Євгенія Шевчук"], ["Водяні лілії", "Таблиця припливів"], "Відбиття ліворуч здаються відреставрованими. Чи відомо, коли це зробили?"],
  cs: ["Komentáře", "{count|nový komentář|nové komentáře|nových komentářů}", "{actor} {actors|komentuje|komentují|komentuje}: „{object}“", "Odpovědět", ["Jiří Dvořák", "Růžena Šťastná"], ["Lekníny", "Tabulka přílivů"], "Odrazy vlevo vypadají restaurované. Víme, kdy se to stalo?"],
  sv: ["Kommentarer", "{count|ny kommentar|nya kommentarer}", "{actor} kommenterade ”{object}”", "Svara", ["Åsa Öberg", "Björn Sjöström"], ["Näckrosor", "Tidvattentabell"], "Speglingarna till vänster ser restaurerade ut. Vet vi när det gjordes?"],
  da: ["Kommentarer", "{count|ny kommentar|nye kommentarer}", "{actor} kommenterede “{object}”", "Svar", ["Søren Ørsted", "Åse Kjær"], ["Åkander", "Tidevandstabel"], "Spejlingerne til venstre ser restaurerede ud. Ved vi, hvornår det skete?"],
  fi: ["Kommentit", "{count|uusi kommentti|uutta kommenttia}", "{actor} {actors|kommentoi|kommentoivat}: ”{object}”", "Vastaa", ["Päivi Yli-Hakola", "Väinö Mäkelä"], ["Lumpeet", "Vuorovesitaulukko"], "Vasemman reunan heijastukset näyttävät entisöidyiltä. Tiedämmekö, milloin se tehtiin?"],
  nb: ["Kommentarer", "{count|ny kommentar|nye kommentarer}", "{actor} kommenterte «{object}»", "Svar", ["Øystein Bråten", "Åse Sæther"], ["Vannliljer", "Tidevannstabell"], "Speilingene til venstre ser restaurerte ut. Vet vi når det ble gjort?"],
  tr: ["Yorumlar", "yeni yorum", "{actor}, “{object}” için yorum yaptı", "Yanıtla", ["Işıl Çağlayan", "Göksel Şahin"], ["Nilüferler", "Gelgit Tablosu"], "Soldaki yansımalar restore edilmiş görünüyor. Ne zaman yapıldığını biliyor muyuz?"],
  ja: ["コメント", "新しいコメント", "{actor}さんが「{object}」にコメントしました", "返信する", ["田中 由紀", "佐藤 健一"], ["睡蓮", "潮見表"], "左側の水面の映り込みは、修復されているように見えます。いつ行われたか分かりますか。"],
  "zh-Hans": ["评论", "新评论", "{actor}评论了“{object}”", "回复", ["王小明", "李静"], ["睡莲", "潮汐表"], "左侧的倒影看起来像是修复过的。我们知道是什么时候修复的吗？"],
  "zh-Hant": ["留言", "新留言", "{actor}在「{object}」留言", "回覆", ["陳怡君", "林志豪"], ["睡蓮", "潮汐表"], "左側的倒影看起來像是修復過的。我們知道是什麼時候修復的嗎？"],
  ko: ["댓글", "새 댓글", "{actor}님이 ‘{object}’에 댓글을 남겼습니다", "답글 쓰기", ["김서연", "박지훈"], ["수련", "조석표"], "왼쪽에 비친 모습은 복원된 것처럼 보입니다. 언제 복원했는지 알 수 있을까요?"],
  hi: ["टिप्पणियाँ", "{count|नई टिप्पणी|नई टिप्पणियाँ}", "{actor} ने “{object}” पर टिप्पणी की", "जवाब दें", ["अनन्या शर्मा", "राजेश कुमार"], ["कुमुदिनी", "ज्वार-भाटा तालिका"], "बाईं ओर के प्रतिबिंब पुनर्स्थापित लगते हैं। क्या हमें पता है कि यह कब हुआ?"],
  ar: ["التعليقات", "{count|تعليق جديد|تعليق جديد|تعليقان جديدان|تعليقات جديدة|تعليقًا جديدًا|تعليق جديد}", "علّق {actor} على «{object}»", "رد", ["ليلى حداد", "يوسف المنصوري"], ["زنابق الماء", "جدول المد والجزر"], "تبدو الانعكاسات على اليسار مرمّمة. هل نعرف متى تم ذلك؟"],
  fa: ["نظرها", "{count|نظر جدید|نظر جدید}", "{actor} دربارهٔ «{object}» نظر داد", "پاسخ", ["نیلوفر کریمی", "پیام گنجوی"], ["نیلوفرهای آبی", "جدول جزر و مد"], "بازتاب‌های سمت چپ مرمت‌شده به نظر می‌رسند. می‌دانیم این کار کی انجام شد؟"],
  he: ["תגובות", "{count|תגובה חדשה|תגובות חדשות|תגובות חדשות}", "תגובה מאת {actor} על \"{object}\"", "מענה", ["דנה כהן", "יוסי לוי"], ["חבצלות מים", "טבלת גאות ושפל"], "ההשתקפויות משמאל נראות משוחזרות. ידוע מתי זה נעשה?"],
};

/** What has no translation stands in all of them: a name and a title in Latin letters, and one in Hebrew ones. */
export const foreign = { people: ["Ann Lee", "דנה כהן"], things: ["You’re Dreaming (2nd version)", "Second Sleep"] };
