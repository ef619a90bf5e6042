import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { announcing, certain, createExpressionDetector, likely, named } from '../text/expression-detector.ts';

const walletNames = announcing('wallet|address|adresse|direcci[óo]n|eth|ethereum|erc-?20|send to|sol|solana');

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest());

/** Base58Check (Bitcoin, Litecoin, Dogecoin, Tron and similar): SHA-256 twice over version and hash. */
function hasBase58Checksum(value: string): boolean {
  try {
    return createBase58check(sha256).decode(value).length === 21;
  } catch {
    return false; // the library throws for an invalid address
  }
}

function hasBech32Checksum(value: string): boolean {
  return [bech32, bech32m].some(
    ({ decodeUnsafe }) => decodeUnsafe(value.toLowerCase() as `${string}1${string}`, 120) !== undefined,
  );
}

/** EIP-55: a hash of the address determines the case of each letter. */
function hasCaseChecksum(value: string): boolean {
  const plain = value.slice(2);
  const hash = Buffer.from(keccak_256(Buffer.from(plain.toLowerCase()))).toString('hex');
  return Array.from(plain).every((each, at) => {
    if (/\d/.test(each)) return true;
    return Number.parseInt(hash.charAt(at), 16) >= 8 === (each === each.toUpperCase());
  });
}

/** Wallet addresses. Checksums cover the value as written, so its case matters. */
export const cryptoWallet = createExpressionDetector({
  prefilter: [
    '\\b(?:1|3|l|m|d|t)[1-9a-z]{25}',
    '\\b(?:bc1|tb1|ltc1|addr1)[02-9a-z]{20}',
    '\\b0x[0-9a-f]{40}',
    '(?:sol|solana)[^a-z0-9]{0,3}(?:wallet|address)?[^a-z0-9]{0,8}[1-9a-z]{32}',
  ],
  reach: 110,
  rules: [
    {
      expression: /(?<![\w/+-])[13LMDT][1-9A-HJ-NP-Za-km-z]{25,33}(?![\w/+])/g,
      validate: (_, { text, start, end }) =>
        hasBase58Checksum(text.slice(start, end)) ? certain('Base58Check') : undefined,
    },
    {
      expression: /(?<!\w)(?:(?:bc|tb|ltc)1[02-9ac-hj-np-z]{25,87}|addr1[02-9ac-hj-np-z]{50,103})(?!\w)/gi,
      validate: (_, { text, start, end }) =>
        hasBech32Checksum(text.slice(start, end)) ? certain('Bech32') : undefined,
    },
    {
      expression: /(?<!\w)0x[\da-fA-F]{40}(?!\w)/g,
      validate(_, { text, start, end, isAnnounced }) {
        const value = text.slice(start, end);
        if (/^0x0{20}|^0x(.)\1+$/.test(value)) return undefined;
        const isMixed = /[a-f]/.test(value) && /[A-F]/.test(value);
        if (isMixed) return hasCaseChecksum(value) ? certain('EIP-55') : undefined;
        return isAnnounced(walletNames) ? likely('address after its name') : undefined;
      },
    },
    named(
      /(?<![\w/+-])[1-9A-HJ-NP-Za-km-z]{43,44}(?![\w/+])/g,
      '(?:sol|solana)(?: (?:wallet|address))?',
      likely('Solana, name'),
    ),
  ],
  folded: false,
});
