//! Acts in a project tool and orders in a shop, in five languages.

/// The names and texts of one language.
pub(super) struct Content {
    pub(super) locale: &'static str,
    pub(super) tz: &'static str,
    pub(super) people: [&'static str; 5],
    pub(super) projects: [&'static str; 2],
    /// Of documents and tasks.
    pub(super) titles: [&'static str; 6],
    /// Comments of people.
    pub(super) said: [&'static str; 5],
    pub(super) account: &'static str,
    /// Title, month and total.
    pub(super) invoice: [&'static str; 3],
    pub(super) lamp: &'static str,
}

pub(super) static CONTENTS: [Content; 5] = [
    Content {
        locale: "en",
        tz: "Europe/Dublin",
        people: ["Ben Okafor", "Cleo Marsh", "Dov Adler", "Ana Ruiz", "Eve Lund"],
        projects: ["Website redesign", "Spring exhibition"],
        titles: [
            "Frames for the north wall",
            "Hero image",
            "Footer links",
            "Write alt texts for the collection pages",
            "Order the oak frames",
            "Opening hours at Easter",
        ],
        said: [
            "I measured again: 84 × 62 cm will do, if we hang it above the door.\n\n@Ana, can you ask \
             the workshop whether oak is still possible by the 14th?",
            "The crop cuts off her hand on phones. Could we use the wide one?",
            "Done, please check the French labels.",
            "We close at 16:00 on Saturday, the page still says 18:00.",
            "Can you decide by Thursday?",
        ],
        account: "Your account",
        invoice: ["Invoice 2024-03", "March", "€ 48.20"],
        lamp: "Desk lamp, brass",
    },
    Content {
        locale: "de",
        tz: "Europe/Berlin",
        people: ["Jonas Weber", "Miriam Scholz", "Tarik Yilmaz", "Anna Krüger", "Paul Lindner"],
        projects: ["Neue Website", "Frühjahrsausstellung"],
        titles: [
            "Rahmen für die Nordwand",
            "Titelbild",
            "Links in der Fußzeile",
            "Bildbeschreibungen für die Sammlung schreiben",
            "Eichenrahmen bestellen",
            "Öffnungszeiten an Ostern",
        ],
        said: [
            "Ich habe noch einmal gemessen: 84 × 62 cm reichen, wenn wir es über die Tür \
             hängen.\n\n@Anna, fragst du bitte die Werkstatt, ob Eiche bis zum 14. noch geht?",
            "Auf dem Handy ist ihre Hand abgeschnitten. Können wir das breite nehmen?",
            "Erledigt, bitte noch die französischen Bezeichnungen prüfen.",
            "Samstags schließen wir um 16 Uhr, auf der Seite steht noch 18 Uhr.",
            "Kannst du das bis Donnerstag entscheiden?",
        ],
        account: "Ihr Konto",
        invoice: ["Rechnung 2024-03", "März", "48,20\u{a0}€"],
        lamp: "Schreibtischlampe, Messing",
    },
    Content {
        locale: "fr",
        tz: "Europe/Paris",
        people: ["Élodie Brun", "Karim Haddad", "Sophie Lemoine", "Lucas Petit", "Inès Moreau"],
        projects: ["Refonte du site", "Exposition de printemps"],
        titles: [
            "Cadres du mur nord",
            "Image d’accueil",
            "Liens du pied de page",
            "Textes alternatifs des pages de la collection",
            "Commande des cadres en chêne",
            "Horaires de Pâques",
        ],
        said: [
            "J’ai remesuré\u{a0}: 84 × 62 cm suffiront si nous l’accrochons au-dessus de la \
             porte.\n\n@Ana, peux-tu demander à l’atelier si le chêne est encore possible d’ici au \
             14\u{a0}?",
            "Le cadrage lui coupe la main sur téléphone. On pourrait prendre l’image large\u{a0}?",
            "C’est fait, il reste à vérifier les libellés français.",
            "Nous fermons à 16 h le samedi, la page indique encore 18 h.",
            "Peux-tu trancher d’ici jeudi\u{a0}?",
        ],
        account: "Votre compte",
        invoice: ["Facture 2024-03", "mars", "48,20\u{a0}€"],
        lamp: "Lampe de bureau en laiton",
    },
    Content {
        locale: "he",
        tz: "Asia/Jerusalem",
        people: ["דנה כהן", "יוסי לוי", "מאיה פרץ", "עומר שגיא", "נועה ברק"],
        projects: ["עיצוב האתר מחדש", "תערוכת האביב"],
        titles: [
            "מסגרות לקיר הצפוני",
            "תמונת השער",
            "קישורים בתחתית הדף",
            "תיאורי תמונות לדפי האוסף",
            "הזמנת מסגרות אלון",
            "שעות הפתיחה בפסח",
        ],
        said: [
            "מדדתי שוב: 84 × 62 ס״מ יספיקו אם נתלה מעל הדלת.\n\n@אנה, אפשר לברר בסדנה אם אלון עדיין \
             אפשרי עד ה־14?",
            "בטלפון היד שלה נחתכת. אפשר להשתמש בתמונה הרחבה?",
            "בוצע, נשאר לבדוק את התוויות בצרפתית.",
            "בשישי אנחנו סוגרים ב־14:00, ובדף עדיין כתוב 16:00.",
            "אפשר להחליט עד יום חמישי?",
        ],
        account: "החשבון שלך",
        invoice: ["חשבונית 2024-03", "מרץ", "182.40 ₪"],
        lamp: "מנורת שולחן מפליז",
    },
    Content {
        locale: "ja",
        tz: "Asia/Tokyo",
        people: ["山田太郎", "佐藤美咲", "鈴木健一", "高橋由美", "伊藤翔"],
        projects: ["サイトリニューアル", "春の展覧会"],
        titles: [
            "北壁の額縁",
            "トップ画像",
            "フッターのリンク",
            "コレクションページの代替テキスト作成",
            "オーク材の額縁の発注",
            "大型連休の開館時間",
        ],
        said: [
            "もう一度測りました。ドアの上に掛けるなら84×62cmで大丈夫です。\n\n@アナさん、14日までにオーク材で間に合うか工房に確認していただけますか。",
            "スマートフォンだと手が切れてしまいます。横長の画像にできますか。",
            "対応しました。フランス語の表記を確認してください。",
            "土曜日は16時閉館ですが、ページは18時のままです。",
            "木曜日までに決めていただけますか。",
        ],
        account: "お客様のアカウント",
        invoice: ["請求書 2024-03", "3月", "5,280円"],
        lamp: "真鍮のデスクランプ",
    },
];
