import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { closeAtEnd } from '../kit/started.ts';

/** A sandbox for a test file, and the official SDKs at it. */
export async function startClients() {
  const { url, close } = await startSandbox();
  closeAtEnd(close);
  return {
    url,
    anthropic: new Anthropic({ apiKey: 'x', authToken: null, baseURL: url, maxRetries: 0 }),
    openai: new OpenAI({ apiKey: 'x', baseURL: `${url}/v1`, maxRetries: 0 }),
  };
}

/** Posts a raw body; for what the SDKs would not send. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The data of every event of a stream, in order. */
export function readEvents(text: string): Record<string, unknown>[] {
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map((match) => JSON.parse(match[1] ?? ''));
}

export const weatherSchema = {
  type: 'object' as const,
  properties: {
    city: { type: 'string', minLength: 2 },
    unit: { type: 'string', enum: ['celsius', 'kelvin'] },
    days: { type: 'integer', minimum: 3, maximum: 5 },
  },
  required: ['city', 'unit', 'days'],
  additionalProperties: false,
};
