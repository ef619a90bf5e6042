/** Agents that are recognized by what they send. */
export const clientNames = ['claude', 'codex', 'opencode', 'gemini', 'copilot', 'qwen'] as const;
