import { realpathSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Inspection, inspectConfig } from '../../src/config/load.ts';
import { formatProblem, inFileOrder } from '../../src/config/source/problems.ts';
import type { Consent } from '../../src/config/trust/wants.ts';
import { type Files, homeWith } from '../kit/own-configuration.ts';

/** Midday of 21 November 2026. */
export const nowMs = Date.parse('2026-11-21T12:00:00Z');

/** For tests of anything but what a found file may have. */
export const allowAll: Consent = async () => [];

/** A project of its own, removed after the test. */
export function createWorkspace(files: Files = {}): string {
  const directory = realpathSync(homeWith({ '.git': 'gitdir: elsewhere', ...files }));
  onTestFinished(() => rmSync(dirname(directory), { recursive: true, force: true }));
  return directory;
}

export function inspect(yaml: string, env: Readonly<Record<string, string>> = {}): Promise<Inspection> {
  const cwd = createWorkspace({ 'gateway.yaml': yaml });
  return inspectConfig({ cwd, env: { HOME: cwd, ...env }, nowMs, consent: allowAll });
}

/** The first line of each problem: where and what. */
export async function problemsOf(yaml: string, env?: Readonly<Record<string, string>>): Promise<string[]> {
  const { problems } = await inspect(yaml, env);
  return inFileOrder(problems).map((problem) => formatProblem(problem, 'gateway.yaml').split('\n')[0] ?? '');
}
