import { memoize } from '../memoize.ts';
import { type KnownModel, knownModels } from './known-models.data.ts';

// `openai/gpt-5.5`, `anthropic.claude-…`, `us.anthropic.claude-…`
const vendorPrefix = /^(?:openai|anthropic)\/|^(?:[a-z]+\.)?anthropic\./;
// `-20250929`, `@20250929`, `-2025-04-14`, `-latest`, and what Bedrock adds: `-v1:0`
const version = /(?:-v\d+(?::\d+)?)?$/;
const suffix = /(?:[-@]20\d{6}|-20\d{2}-\d{2}-\d{2}|-latest)$/;

/** The name that a known model is listed by. */
export function knownModelName(name: string): string | undefined {
  const plain = name.replace(vendorPrefix, '');
  return [name, plain, stripped(plain)].find((candidate) => knownModels.has(candidate));
}

/** By its exact name, else without vendor prefixes and suffixes; never by part of the name. */
export function knownModel(name: string): KnownModel | undefined {
  return knownModels.get(listedName(name));
}

const listedName = memoize((name) => knownModelName(name) ?? '');

function stripped(name: string): string {
  return name.replace(version, '').replace(suffix, '');
}
