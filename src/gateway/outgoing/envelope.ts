import { applyEdits, type ByteEdit, memberEdit, removals } from '../../json/byte-edits.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import type { Envelope } from '../../providers/clouds/clouds.ts';

/** An envelope for one request: with the flags of `anthropic-beta` that the policies let pass. */
export interface FilledEnvelope extends Envelope {
  readonly flags: readonly string[];
}

/** The edits that put a body of Anthropic's messages in the form of a cloud; all of its other bytes stay. */
export function envelopeEdits(document: JsonDocument, envelope: FilledEnvelope): readonly ByteEdit[] {
  const { version, pathMembers, flags } = envelope;
  const has = (name: string) => document.member(document.root, name) !== undefined;
  const edits = removals(document, document.root, (key) =>
    pathMembers.some((name) => document.isText(key, name)),
  );
  if (flags.length > 0 && !has('anthropic_beta')) {
    edits.push(memberEdit(document, document.root, { name: 'anthropic_beta', value: JSON.stringify(flags) }));
  }
  if (!has('anthropic_version')) {
    edits.push(
      memberEdit(document, document.root, { name: 'anthropic_version', value: JSON.stringify(version) }),
    );
  }
  return edits;
}

/** A body that the gateway built, in the form of a cloud if it has one. */
export function inEnvelope(body: Buffer, envelope: FilledEnvelope | undefined): Buffer {
  if (envelope === undefined) return body;
  const document = parseStrictJson(body);
  return applyEdits(body, envelopeEdits(document, envelope));
}

/**
 * Takes the headers out that are in the body now; what they say of betas fills the envelope, as far as the cloud knows it.
 * Returns both, and which flags it would have refused the request for.
 */
export function fillEnvelope(headers: readonly string[], envelope: Envelope) {
  const kept: string[] = [];
  const flags = new Set<string>();
  const dropped: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string];
    if (name === 'anthropic-version') continue;
    if (name !== 'anthropic-beta') kept.push(name, value);
    else
      for (const flag of value.split(',').map((each) => each.trim())) {
        const own = envelope.betas === undefined ? flag : envelope.betas.get(flag);
        if (own !== undefined && own !== '') flags.add(own);
        else if (flag !== '') dropped.push(droppedFlag(flag));
      }
  }
  if (flags.size > 0 && !envelope.holdsBetas) kept.push('anthropic-beta', [...flags].join(','));
  return {
    headers: kept,
    envelope: { ...envelope, flags: envelope.holdsBetas ? [...flags] : [] } satisfies FilledEnvelope,
    dropped,
  };
}

/** What is no flag may be anything, which records don't keep. */
function droppedFlag(flag: string): string {
  return /^[a-z0-9-]{1,64}$/.test(flag) ? `header:anthropic-beta ${flag}` : 'header:anthropic-beta';
}
