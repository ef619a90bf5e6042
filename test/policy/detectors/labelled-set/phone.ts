import { drawHarmless } from './harmless.ts';
import type { Random } from './random.ts';
import { carriers, drawDistinct, fill, type LabelledClass, listed, plant } from './sample.ts';

export function labelPhones(): LabelledClass {
  return {
    positives: [
      ...plant(5001, 420, made([...international, ...unmistakable]), [
        ...carriers.filter((text) => !text.startsWith('+')),
        ...announced,
      ]),
      ...plant(5004, 280, made([...international, ...unmistakable, ...national]), announced),
    ],
    negatives: [...drawHarmless(5002, 1400), ...drawDistinct(5003, 1000, made(nearMisses))],
  };
}

function made(shapes: readonly string[]): readonly ((random: Random) => string)[] {
  return shapes.map((shape) => (random) => {
    const nonZero = shape.replace(/[2-9]x|N/g, () => String(random.number(2, 9)));
    return fill(
      random,
      nonZero.replace(/E/g, () => `${random.number(2, 9)}${random.digits(1)}${random.number(2, 9)}`),
    );
  });
}

/** N a digit from 2 to 9, E three digits as North American exchanges have them. */
const international = listed(`
  +1 E E #d4 | +1-E-E-#d4 | +1 (E) E-#d4 | +1EE#d4 | +44 20 7#d3 #d4 | +447#d9 | +44 (0)20 7#d3 #d4
  +49 30 N#d7 | +49 (0)171 N#d6 | +4915#d9 | +33 6 #d2 #d2 #d2 #d2 | +331#d8 | +34 6#d2 #d3 #d3
  +39 02 N#d7 | +81 90-N#d3-#d4 | +86 138 #d4 #d4 | +8613#d9 | +91 98#d3 #d5 | +55 11 9#d4-#d4
  +7 (495) N#d2-#d2-#d2 | +61 4#d2 #d3 #d3 | +353 1 N#d2 #d4 | +972 5N-#d3-#d4 | +82-10-N#d3-#d4
  +41 44 N#d2 #d2 #d2 | +351.91N.#d3.#d3 | 0049 30 N#d7 | +971 50 N#d2 #d4
`);
const unmistakable = listed(`
  (E) E-#d4 | E-E-#d4 | E.E.#d4 | 1-E-E-#d4 | 06 #d2 4N #d2 1N | 01.4N.#d2.3N.#d2 | 090-N#d3-#d4
  03-N#d3-#d4
`);
const national = listed(`
  030 N#d6 | 0171/N#d6 | 020 7#d3 #d4 | 07#d9 | 07N00 #d6 | 138#d8 | EE#d4 | E E #d4 | 9#d2 #d3 #d3
  (0)44 N#d2 #d2 #d2 | 8 (495) N#d2-#d2-#d2 | 0N#d2 #d3 #d3
`);

const announced = listed(`
  Phone: {} | Tel. {} | call me at {} | Call me on {} tomorrow | my phone number is {} | mobile: {}
  cell {} | {"phone":"{}"} | Telefon: {} | Handy {} | téléphone : {} | Teléfono: {} | móvil {}
  WhatsApp {} | fax: {} | Телефон: {} | 電話：{} | 电话{} | 手机号 {} | phone_number={} | tel:{} | 전화 {}
  celular: {} | tel {} ext. 12
`);

const nearMisses = listed(`
  2025-03-#d2 10:11:12 | 2024/12/31 23:59:59 +0200 | UTC+02:00 | +1 | +12 | +#d3 | x+#d10 | (+#d5) | +0#d9
  +1 023 456 7890 | +1 155 #d3 #d4 | +999 #d8 | +44 12 | 100-200-3000 | 200-100-#d4 | 123-456-7890
  555-0123 | #d3-#d4 | #d10 | 1#d10 | #d11 | #d8 | id: #d10 | order 4#d2-555-#d4 | SKU 212-555-#d4
  part no 3#d2-444-#d4 | range 200-300-4000 lines | v2.345.6789 | #d3.#d3.#d3 | 1.#d3.#d3.#d3
  192.168.#n.#n | 01 02 03 04 05 | 00 01 02 03 04 05 06 07 | 0#n:1#n:22 | ISBN 978-0-#d2-#d6-1
  ISSN 1234-5678 | #h8-#h4-#h4-#h4-#h12 | #d4-#d4-#d4-#d4 | RFC 3986 7230 7231 | 10 20 30 40 50 60
  1 234 567 890 | $1,234,567.89 | (12) (34) (56) | f(212) + 555 - 1234 | a[212] = 5551234
  rgb(212 555 123) | 212 555 1234 rows | 0.2125551234 | -2125551234
  @@ -1,3 +1,4 @@\n+2125551234\n+const x = 1; | --- a\n+++ b\n+447123456789\n context | 1e+1234567890
  phone | phone: unknown | phones: 12 | call 1234567 times | phone model 12345 | ETA 07:45-08:15
  2,147,483,647 | 12/12/2024-13/12/2024 | lat 52.5200066, lon 13.404954 | sum=4#d2+555+1234 | 017-0#d3-1
  #d5-#d4 | 08-2024-1 | pages 200-299, 300-399 | port 8080-8090 | +-#d8
`);
