/** Magic bytes of formats whose text can't be read directly. */
const signatures = [
  '\x89PNG',
  '\xff\xd8\xff',
  'GIF8',
  '%PDF-',
  'PK\x03\x04',
  'RIFF',
  'OggS',
  'fLaC',
  'ID3',
  '\x1f\x8b',
  'BZh',
  '\x28\xb5\x2f\xfd',
  '\xfd7zXZ\x00',
  '7z\xbc\xaf',
  'II*\x00',
  'MM\x00*',
  '\x1aE\xdf\xa3',
  '\xd0\xcf\x11\xe0',
  '\x7fELF',
].map((signature) => Buffer.from(signature, 'latin1'));

const pdf = Buffer.from('%PDF-');
/** PDF readers search for the header within this many bytes. */
const pdfReach = 1024;
const container = Buffer.from('ftyp');

/** Whether bytes begin like a format of pictures, sound, archives or documents. */
export function isBinary(bytes: Buffer): boolean {
  if (signatures.some((signature) => bytes.subarray(0, signature.length).equals(signature))) return true;
  return bytes.subarray(4, 8).equals(container) || bytes.subarray(0, pdfReach).includes(pdf);
}

/** Whether bytes are text that can be read as it stands: UTF-8, Latin-1, or UTF-16 with its mark, without controls. */
export function isPlainText(bytes: Buffer): boolean {
  const mark = bytes.length > 1 ? bytes.readUInt16BE(0) : 0;
  if (mark === 0xfffe || mark === 0xfeff) return bytes.length % 2 === 0 && !hasWideControls(bytes, mark);
  for (let at = 0; at < bytes.length; at += 1) if (isControl(bytes[at] as number)) return false;
  return true;
}

function hasWideControls(bytes: Buffer, mark: number): boolean {
  for (let at = 2; at < bytes.length; at += 2) {
    if (isControl(mark === 0xfffe ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at))) return true;
  }
  return false;
}

/** C0 controls that no text has: all but tab, line ends, form feed and escape. */
function isControl(code: number): boolean {
  return code < 0x20 && !(code >= 0x09 && code <= 0x0d) && code !== 0x1b;
}
