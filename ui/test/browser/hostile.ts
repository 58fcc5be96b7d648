// What pages do to elements: a reset such as Tailwind's, rules with `!important`, clipping and transforms.
export const css = `
*, ::before, ::after { box-sizing: content-box; margin: 0; padding: 0; border: 3px dotted red; letter-spacing: 4px; text-transform: uppercase }
html { font-size: 62.5%; line-height: 3; font-family: cursive; word-spacing: 1em }
body { color: red; text-align: center; cursor: crosshair; direction: ltr; visibility: visible; user-select: none }
button, input, select { all: revert; background: lime; color: red; font: 30px fantasy; border-radius: 0; padding: 20px }
ul, ol { list-style: square; padding: 50px } a { color: lime; text-decoration: line-through; font-weight: 900 }
svg, img, video { display: block; max-width: 8px; height: auto; fill: red } [hidden] { display: block !important } h2 { font-size: 80px }
.container, .panel, .row, .tab, .title, .text, .badge, .bell, .root, .menu { display: none !important; width: 3px !important; position: static !important }
:focus { outline: none !important } dialog { display: none !important; opacity: 0 !important } [popover] { display: none !important }
@keyframes open { to { transform: rotate(180deg) } } @keyframes shine { to { opacity: 0 } }
tidings-inbox { line-height: 5; color: lime; font: 40px serif; opacity: 1; letter-spacing: 9px; text-indent: 30px; white-space: pre; writing-mode: horizontal-tb }
header { overflow: hidden; height: 60px; transform: translateX(0) scale(1); filter: drop-shadow(0 0 0 red); contain: paint; z-index: 0; position: relative; border: 0 !important; margin: 0 !important; text-align: right }
main { position: fixed; inset: 100px 0 0; z-index: 2147483647; background: #fff }
`;

export const plain = `header { height: 60px; text-align: right } body { margin: 0 } main { position: fixed; inset: 100px 0 0; background: #fff }`;
