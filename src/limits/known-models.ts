import { memoize } from '../memoize.ts';
import { type KnownModel, knownModels, listedNames, unknownImageTokens } from './known-models.data.ts';

// `openai/gpt-5.5`, `anthropic.claude-…`, `us.anthropic.claude-…`
const vendorPrefix = /^(?:openai|anthropic)\/|^(?:[a-z]+\.)?anthropic\./;
// What Bedrock adds: `-v1`, `-v1:0`.
const bedrockVersion = /-v\d+(?::\d+)?$/;

/** The name that a known model is listed by. */
export function knownModelName(name: string): string | undefined {
  const plain = name.replace(vendorPrefix, '').replace(bedrockVersion, '').replace('@', '-');
  return [name, plain, listedNames.get(plain) ?? ''].find((candidate) => knownModels.has(candidate));
}

/** By its exact name, without vendor prefixes, or by the date of a version that is listed; never by part of the name. */
export function knownModel(name: string): KnownModel | undefined {
  return knownModels.get(listedName(name));
}

/** The most input tokens that one image can be. */
export function imageTokensOf(name: string): number {
  return knownModel(name)?.imageTokens ?? unknownImageTokens;
}

const listedName = memoize((name) => knownModelName(name) ?? '');
