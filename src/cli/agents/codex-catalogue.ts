import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Fields, toFields, toList, toText } from '../../dialects/fields.ts';
import { makeDirectory, stateDirectory } from '../../lib/directories.ts';
import type { Io } from '../shell/io.ts';
import type { ModelLimits } from './clients.ts';

interface CodexModel {
  readonly name: string;
  readonly limits?: ModelLimits;
}

const limits = { timeout: 5_000, maxBuffer: 16 * 1024 * 1024 };

/**
 * The path of a catalogue for Codex: its own, and the model as one more. Of a model that it doesn't know Codex says that
 * its metadata was not found. Undefined if it knows the model, or can't print its catalogue.
 */
export async function writeCodexCatalogue(
  { name, limits: { contextWindow } = {} }: CodexModel,
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): Promise<string | undefined> {
  const models = await bundledModels({ env, cwd });
  // The plainest of them: others expect tools and requests that only OpenAI's hosts take.
  const plain = models.find(
    ({ tool_mode, use_responses_lite }) => tool_mode == null && use_responses_lite !== true,
  );
  if (plain === undefined || models.some(({ slug }) => slug === name)) return undefined;
  const text = JSON.stringify({ models: [...models, entryFor(name, plain, contextWindow)] });
  const directory = join(stateDirectory(env), 'agents');
  makeDirectory(directory);
  // Its name follows from what is in it, so that no other run changes it.
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const path = join(directory, `codex-${hash}.json`);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function bundledModels({ env, cwd }: Pick<Io, 'env' | 'cwd'>): Promise<readonly Fields[]> {
  try {
    const { stdout } = await promisify(execFile)('codex', ['debug', 'models', '--bundled'], {
      ...limits,
      env,
      cwd,
    });
    return toList(toFields(JSON.parse(stdout)).models).map(toFields);
  } catch {
    return []; // an older one, or none: starting it says so
  }
}

/** What Codex itself assumes of a model that it doesn't know, with the instructions of one that it does. */
function entryFor(name: string, plain: Fields, contextWindow: number | undefined): Fields {
  return {
    ...plain,
    slug: name,
    display_name: name,
    description: 'by the gateway',
    base_instructions: toText(plain.base_instructions).replace(/ based on GPT-[\d.]*\d/, ''),
    model_messages: null,
    default_reasoning_level: null,
    upgrade: null,
    service_tiers: [],
    additional_speed_tiers: [],
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: null,
    supports_search_tool: false,
    comp_hash: null,
    ...(contextWindow !== undefined && { context_window: contextWindow, max_context_window: contextWindow }),
  };
}
