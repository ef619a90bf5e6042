interface NationalLengths {
  readonly codeLength: number;
  readonly least: number;
  readonly most: number;
}

/**
 * How many digits may follow the country code with which a number begins; undefined if there is no such code. From the
 * ITU's list; ranges cover both land lines and mobiles.
 */
export function nationalLengths(digits: string): NationalLengths | undefined {
  for (const codeLength of [1, 2, 3]) {
    const range = plans.get(digits.slice(0, codeLength));
    if (range !== undefined && codeLength <= digits.length) {
      return isWrongNorthAmerican(digits) ? undefined : { codeLength, least: range[0], most: range[1] };
    }
  }
  return undefined;
}

function isWrongNorthAmerican(digits: string): boolean {
  return digits.startsWith('1') && !/^1[2-9]\d\d[2-9]/.test(digits);
}

/** Codes by the least and the most digits that may follow them. */
const table: readonly (readonly [least: number, most: number, codes: string])[] = [
  [7, 10, '46 95'],
  [7, 12, '49'],
  [7, 13, '43'],
  [8, 8, '45 47 53 65'],
  [8, 9, '32 36 51 66'],
  [8, 10, '20 60 64 82'],
  [8, 11, '39'],
  [8, 12, '62'],
  [9, 9, '27 31 33 34 40 41 48 56 61 93 94'],
  [9, 10, '44 63 81 84 92'],
  [10, 10, '1 7 30 52 57 58 90 91 98'],
  [10, 11, '54 55 86'],
  // Codes of three digits; the numbers of these countries have seven to ten digits, those of some small islands fewer.
  [
    6,
    10,
    '211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 501 502 503 504 505 506 507 509 590 591 592 593 594 595 596 597 598 599 670 673 675 676 677 678 679 680 682 685 687 689 852 853 855 856 880 886 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 992 993 994 995 996 998',
  ],
];

const plans: ReadonlyMap<string, readonly [number, number]> = new Map(
  table.flatMap(([least, most, codes]) => codes.split(' ').map((code) => [code, [least, most]] as const)),
);
