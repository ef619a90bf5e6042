import { drawHarmless } from './harmless.ts';
import type { Random } from './random.ts';
import {
  carriers,
  drawDistinct,
  type LabelledClass,
  listed,
  plant,
  type Sample,
  templates,
} from './sample.ts';

export function labelSocialSecurityNumbers(): LabelledClass {
  return {
    positives: [
      ...plant(3001, 450, [hyphenated], [...carriers, ...announced]),
      ...plant(3004, 250, [hyphenated, spaced, plain, dotted], announced),
    ],
    negatives: [...drawHarmless(3002, 1400), ...drawDistinct(3003, 1000, nearMisses), ...voided],
  };
}

const announced: readonly string[] = [
  'SSN: {}',
  'ssn={}',
  'My social security number is {}.',
  '{"ssn":"{}","name":"Jo"}',
  'Social Security # {}',
  'employee SSN {} hired 2024-02-#n',
  'Her SSN is {}, born 1980',
  'social-security-number: "{}"',
  'SSN\t{}',
  'Mi número de seguro social es {}',
  'name,ssn\nJo,SSN {}\n',
  'SSN (last used): {}',
  'taxpayer id {}',
  'SSN - {}',
];

function parts(random: Random): readonly [string, string, string] {
  const area = random.number(1, 899);
  const pad = (value: number, length: number) => String(value).padStart(length, '0');
  return [pad(area === 666 ? 667 : area, 3), pad(random.number(1, 99), 2), pad(random.number(1, 9999), 4)];
}

const hyphenated = (random: Random) => parts(random).join('-');
const spaced = (random: Random) => parts(random).join(' ');
const dotted = (random: Random) => parts(random).join('.');
const plain = (random: Random) => parts(random).join('');

const neverIssued = listed(`
  SSN 000-#d2-#d4 | SSN 666-#d2-#d4 | SSN 9#d2-#d2-#d4 | SSN 123-00-#d4 | SSN 512-41-0000 | ssn: 000#d6
  ssn: 9#d8
`);
const otherShapes = listed(`
  #d4-#d2-#d4 | #d3-#d2-#d5 | #d3-#d3-#d4 | #d3-#d2-#d3 | #d2-#d7 | CAS 7732-18-5 | 12#d3-#d2-#d4-#d3
  #h3a-#d2-#d4 | #d3-#d2-#d4-x | a-#d3-#d2-#d4 | id #d9 | account #d9 | zip 9#d4-#d4 | routing #d9
  bytes #d9 | 1#d8 ms | #d3.#d2.#d4 | #d3 #d2 #d4 are the totals | /data/#d3-#d2-#d4/x
  uuid #h8-#h4-#h4-#h4-#h12 | 0.#d3-#d2-#d4 | +#d3-#d2-#d4
`);
const otherNumbers = listed(`
  part number 417-22-#d4 | part no. 3#d2-24-5#d3 | SKU 2#d2-11-4#d3 | order 5#d2-31-2#d3 shipped
  invoice #: 1#d2-55-9#d3 | ticket 4#d2-12-7#d3 | Tracking no 3#d2-21-8#d3 | model: 7#d2-45-1#d3
  item 5#d2-61-3#d3 | serial no 2#d2-71-1#d3 | ref. 1#d2-35-6#d3 | case 4#d2-15-8#d3 was closed
  lot 3#d2-42-7#d3 | catalogue number 6#d2-13-5#d3 | PO 2#d2-54-3#d3
`);

const nearMisses = templates([...neverIssued, ...otherShapes, ...otherNumbers]);

const voided: readonly Sample[] = ['SSN 078-05-1120', 'ssn 219-09-9999', 'SSN 111-11-1111'].map((text) => ({
  text,
}));
