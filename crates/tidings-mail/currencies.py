#!/usr/bin/env python3
"""Makes src/words/format/currencies.tsv from CLDR, of whose currencies ICU4X has nothing that is stable.

    npm pack cldr-core@48.2.0 cldr-numbers-full@48.2.0
    for file in cldr-*.tgz; do tar xzf "$file" --one-top-level="${file%.tgz}"; done
    python3 currencies.py . > src/words/format/currencies.tsv

A locale has a line where it differs from its parent, or where its parent is not its tag without the last part. Numbers are
written by ICU4X: of a pattern that leaves what stands around them.
"""

import json
import pathlib
import re
import sys
import unicodedata

VERSION = "48.2.0"
HEAD = f"""\
# Currencies by locale, from CLDR {VERSION} (npm cldr-core, cldr-numbers-full; Unicode License v3). Made by currencies.py.
# Locale, parent, pattern (¤ symbol, # number), pattern for symbols that end with a letter, the decimal sign and the
# one of money, the same of groups, and symbols that differ from those of the parent.
"""

root = pathlib.Path(sys.argv[1])
core = root / f"cldr-core-{VERSION}/package/supplemental"
main = root / f"cldr-numbers-full-{VERSION}/package/main"


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


given = read(core / "parentLocales.json")["supplemental"]["parentLocales"]["parentLocale"]
fractions = read(core / "currencyData.json")["supplemental"]["currencyData"]["fractions"]
locales = sorted(path.name for path in main.iterdir())


def parent_of(locale):
    if locale in given:
        return given[locale]
    return locale.rsplit("-", 1)[0] if "-" in locale else "und"


def around(pattern):
    assert not set(pattern) & set("'\t"), pattern
    return re.sub(r"[#0-9.,]+", "#", pattern)


def grouping(pattern):
    return [len(group) for group in re.search(r"[#0-9.,]+", pattern)[0].split(".")[0].split(",")[1:]]


def formats_and_symbols(locale):
    numbers = read(main / locale / "numbers.json")["main"][locale]["numbers"]
    currencies = read(main / locale / "currencies.json")["main"][locale]["numbers"]["currencies"]
    system = numbers["defaultNumberingSystem"]

    def of_system(name):
        return numbers.get(f"{name}-numberSystem-{system}") or numbers[f"{name}-numberSystem-latn"]

    money, signs = of_system("currencyFormats"), of_system("symbols")
    standard = money["standard"]
    if grouping(standard) != grouping(of_system("decimalFormats")["standard"]):
        print(f"{locale}: groups of money are not those of numbers", file=sys.stderr)

    def instead(name):
        usual, own = signs[name], signs.get(f"currency{name.capitalize()}")
        return f"{usual}{own}" if own not in (None, usual) else ""

    formats = [around(standard), around(money.get("standard-alphaNextToNumber", standard)),
               instead("decimal"), instead("group")]
    symbols = {code: of.get("symbol", code) for code, of in currencies.items()}
    for code, symbol in symbols.items():
        for edge in (symbol[0], symbol[-1]):
            is_sign = unicodedata.category(edge)[0] in "SZ"
            if is_sign != (unicodedata.bidirectional(edge) == "ET"):
                print(f"{locale} {code}: {symbol!r} ends with {unicodedata.name(edge, '?')}", file=sys.stderr)
    return formats, symbols


found = {locale: formats_and_symbols(locale) for locale in locales}
print(HEAD, end="")
digits = {code: of["_digits"] for code, of in fractions.items() if code != "DEFAULT" and of["_digits"] != "2"}
assert fractions["DEFAULT"]["_digits"] == "2"
print("digits", *(f"{code} {of}" for code, of in sorted(digits.items())), sep="\t")
print("codes", *sorted({code for _, symbols in found.values() for code in symbols}), sep="\t")
for locale in locales:
    formats, symbols = found[locale]
    parent = "" if locale == "und" else parent_of(locale)
    while parent and parent not in found:
        parent = parent_of(parent)
    known_formats, known = found[parent] if parent else (None, {})
    own = [f"{code} {symbols.get(code, code)}" for code in sorted(known.keys() | symbols.keys())
           if symbols.get(code, code) != known.get(code, code)]
    is_usual = parent == (locale.rsplit("-", 1)[0] if "-" in locale else "und")
    if formats == known_formats:
        formats = [""] * len(formats)
    if own or any(formats) or not is_usual:
        print(locale.lower(), parent.lower(), *formats, *own, sep="\t")
