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

const plans: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['1', [10, 10]],
  ['7', [10, 10]],
  ['20', [8, 10]],
  ['27', [9, 9]],
  ['30', [10, 10]],
  ['31', [9, 9]],
  ['32', [8, 9]],
  ['33', [9, 9]],
  ['34', [9, 9]],
  ['36', [8, 9]],
  ['39', [8, 11]],
  ['40', [9, 9]],
  ['41', [9, 9]],
  ['43', [7, 13]],
  ['44', [9, 10]],
  ['45', [8, 8]],
  ['46', [7, 10]],
  ['47', [8, 8]],
  ['48', [9, 9]],
  ['49', [7, 12]],
  ['51', [8, 9]],
  ['52', [10, 10]],
  ['53', [8, 8]],
  ['54', [10, 11]],
  ['55', [10, 11]],
  ['56', [9, 9]],
  ['57', [10, 10]],
  ['58', [10, 10]],
  ['60', [8, 10]],
  ['61', [9, 9]],
  ['62', [8, 12]],
  ['63', [9, 10]],
  ['64', [8, 10]],
  ['65', [8, 8]],
  ['66', [8, 9]],
  ['81', [9, 10]],
  ['82', [8, 10]],
  ['84', [9, 10]],
  ['86', [10, 11]],
  ['90', [10, 10]],
  ['91', [10, 10]],
  ['92', [9, 10]],
  ['93', [9, 9]],
  ['94', [9, 9]],
  ['95', [7, 10]],
  ['98', [10, 10]],
  ...threeDigitCodes(),
]);

/** Three-digit codes; the numbers of these countries have seven to ten digits, those of some small islands fewer. */
function threeDigitCodes(): readonly [string, readonly [number, number]][] {
  const codes =
    '211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 501 502 503 504 505 506 507 509 590 591 592 593 594 595 596 597 598 599 670 673 675 676 677 678 679 680 682 685 687 689 852 853 855 856 880 886 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 992 993 994 995 996 998';
  return codes.split(' ').map((code) => [code, [6, 10]]);
}
