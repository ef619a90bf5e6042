import { type Bypass, blocked, dialectNames, saying } from './case.ts';

const card = { status: 403, reason: 'content.credit_card' };

const disguises: readonly (readonly [string, string, Bypass['expect']])[] = [
  ['capitals', 'PROJECT NIGHTFALL', blocked],
  ['white space of all kinds', 'project \r\n\t\u00a0\u3000 nightfall', blocked],
  ['full width', 'ｐｒｏｊｅｃｔ ｎｉｇｈｔｆａｌｌ', blocked],
  ['mathematical script', '𝓹𝓻𝓸𝓳𝓮𝓬𝓽 𝓷𝓲𝓰𝓱𝓽𝓯𝓪𝓵𝓵', blocked],
  ['circled letters', 'ⓟⓡⓞⓙⓔⓒⓣ ⓝⓘⓖⓗⓣⓕⓐⓛⓛ', blocked],
  ['regional indicators', '🇵🇷🇴🇯🇪🇨🇹 🇳🇮🇬🇭🇹🇫🇦🇱🇱', blocked],
  ['Cyrillic letters', 'рrоjесt nіghtfаll', blocked],
  ['Greek letters', 'ρrοject nιghtfαll', blocked],
  ['Cherokee letters', 'projecᎢ niᏀhᎢfall', blocked],
  ['small capitals', 'ᴘʀᴏᴊᴇᴄᴛ ɴɪɢʜᴛꜰᴀʟʟ', blocked],
  ['superscripts', 'ᵖʳᵒʲᵉᶜᵗ ⁿⁱᵍʰᵗᶠᵃˡˡ', blocked],
  ['struck-out letters', 'p\u0336r\u0336o\u0336j\u0336e\u0336c\u0336t n\u0301ightfall', blocked],
  ['letters with accents', 'prôject nïghtfåll', blocked],
  ['zero width spaces', 'p\u200bro\u200cje\u200dct night\u2060fall', blocked],
  ['soft hyphens', 'pro\u00adject night\u00adfall', blocked],
  ['direction marks', 'pro\u202eject\u202c night\u2066fall', blocked],
  ['tag characters', 'pro\u{e0061}ject night\u{e007f}fall', blocked],
  ['variation selectors', 'p\ufe0fro\u{e0100}ject nightfall', blocked],
  ['control characters', 'pro\u0001ject night\u0008fall', blocked],
  ['a combining grapheme joiner', 'pro\u034fject nightfall', blocked],
  ['Hangul fillers', 'pro\u3164ject \uffa0nightfall', blocked],
  ['Mongolian vowel separators', 'pro\u180eject nightfall', blocked],
  ['a byte order mark inside', 'pro\ufeffject nightfall', blocked],
  ['invisible operators', 'pro\u2062ject night\u2064fall', blocked],
  ['interlinear marks', 'pro\ufff9ject nightfall', blocked],
  ['a Braille blank', 'project\u2800nightfall', blocked],
  ['line and paragraph separators', 'project\u2028\u2029nightfall', blocked],
  ['the middle of a word', 'unproject nightfalls', blocked],
  ['digits of full width', 'card ４１１１ １１１１ １１１１ １１１１', card],
  ['digits of Arabic', 'card ٤١١١ ١١١١ ١١١١ ١١١١', card],
  ['mathematical digits', 'card 𝟒𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏', card],
  ['digits with zero width spaces', 'card 4111\u200b111111\u200b111111', card],
  ['digits with typographic dashes', 'card 4111\u20131111\u20131111\u20131111', card],
];

/** The same text in other letters, on every dialect. */
export const unicode: readonly Bypass[] = [
  ...dialectNames.flatMap((endpoint) =>
    disguises.map(
      ([how, text, expect]): Bypass => ({
        name: `${endpoint}: ${how}`,
        endpoint,
        body: saying(endpoint, text),
        expect,
      }),
    ),
  ),
  ...dialectNames.map(
    (endpoint): Bypass => ({
      name: `${endpoint}: an unpaired surrogate in escapes`,
      endpoint,
      raw: JSON.stringify(saying(endpoint, 'pro@ject nightfall')).replace('@', '\\ud800'),
      expect: blocked,
    }),
  ),
];
