/** The name of sandbox mode's policy. */
export const samplePolicy = 'sandbox-sample';

/** The policies of sandbox mode: enough to see one at work, as a file would have them. */
export const sandboxPolicies = {
  [samplePolicy]: {
    apply: 'all',
    rules: [
      {
        id: 'codename',
        action: 'block',
        when: { text: { phrases: ['project nightfall'] } },
        reason: 'content.codename',
      },
      {
        id: 'secrets',
        action: 'redact',
        when: { text: { detect: ['secrets'] } },
        reason: 'content.secret',
      },
    ],
  },
};

/** Requests that show them, with what happens to each. */
export const sandboxSamples = [
  { prompt: 'when does Project Nightfall start?', outcome: 'blocked: a code name' },
  { prompt: 'is API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs right?', outcome: 'the secret is replaced' },
] as const;
