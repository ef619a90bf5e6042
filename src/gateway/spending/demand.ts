import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import { asksToReason } from './may-reason.ts';
import { findOutputCap, type OutputCap } from './output-bound.ts';
import { findToolFees, type ToolFees } from './provider-tools.ts';
import { countRemoteImages } from './remote-images.ts';
import { findSurchargedMode } from './surcharged-mode.ts';
import { worstInputTokens } from './worst-input.ts';

/** What a request says about how much its answer may cost, as plain data: the document is not needed for it again. */
export interface Demand {
  /** The most input tokens that it is likely to be counted as. */
  readonly inputTokens: number;
  /** How many images it only names, which are not among those tokens. */
  readonly remoteImages: number;
  readonly output: OutputCap;
  readonly fees: ToolFees;
  /** The member that makes it cost more than the known prices. */
  readonly surcharge: string | undefined;
  /** Undefined if it says nothing of it. */
  readonly asksToReason: boolean | undefined;
  /** Whether the provider goes on writing after its answer, which says where the rest can be fetched. */
  readonly isInBackground: boolean;
}

type Finders = {
  readonly [Part in keyof Demand]: (document: JsonDocument, endpoint: ModelEndpoint) => Demand[Part];
};

/** Each part by itself: most exchanges report what they used, and need none of it. */
export const demandFinders: Finders = {
  inputTokens: worstInputTokens,
  remoteImages: countRemoteImages,
  output: findOutputCap,
  fees: findToolFees,
  surcharge: findSurchargedMode,
  asksToReason,
  isInBackground(document) {
    const entry = document.member(document.root, 'background');
    return entry !== undefined && document.kind(entry) === kinds.true;
  },
};

/** All of it. */
export function findDemand(document: JsonDocument, endpoint: ModelEndpoint): Demand {
  const found = Object.entries(demandFinders).map(([part, find]) => [part, find(document, endpoint)]);
  return Object.fromEntries(found) as Demand; // each finder is of its part's type
}
