// Whole turns in the form that coding agents send them.

const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const longName = (i: number) => `mcp__a_server_with_a_long_name__and_a_tool_whose_name_goes_on_and_on_${i}`;
const cached = { cache_control: { type: 'ephemeral' } };

/** Claude Code: a system message among the turns, cached blocks, signed thinking, thirty tools, a huge limit. */
export function claudeCodeTurn() {
  return {
    model: 'm',
    max_tokens: 128_000,
    stream: true,
    system: ['one', 'two', 'three'].map((text) => ({ type: 'text', text, ...cached })),
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hello', ...cached }] },
      { role: 'system', content: 'the date is today' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I should look', signature: 'EqQB' },
          { type: 'text', text: 'I look' },
          { type: 'tool_use', id: 'toolu_1', name: longName(1), input: { path: 'a' } },
          { type: 'tool_use', id: 'toolu_2', name: 'Read', input: { path: 'b' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'é👋'.repeat(100_000) },
          {
            type: 'tool_result',
            tool_use_id: 'toolu_2',
            is_error: true,
            content: [{ type: 'text', text: 'gone' }],
          },
          { type: 'text', text: 'go on', ...cached },
        ],
      },
    ],
    tools: [
      ...Array.from({ length: 29 }, (_each, i) => ({
        name: longName(i),
        description: 'x',
        input_schema: schema,
      })),
      { name: 'Read', input_schema: schema, ...cached },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
    ],
    metadata: { user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}' },
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  };
}

/** Codex: developer items, a namespace of tools, a custom tool, replayed calls and reasoning. */
export function codexTurn() {
  return {
    model: 'm',
    instructions: 'You are a coding agent.',
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'sandboxed' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
      { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"path":"a"}' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'patched' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
    ],
    tools: [
      { type: 'function', name: 'shell', description: 'x', parameters: schema, strict: false },
      { type: 'custom', name: 'apply_patch', description: 'x', format: { type: 'text' } },
      {
        type: 'namespace',
        name: 'multi_agent_v1',
        description: 'agents',
        tools: [
          { type: 'function', name: 'spawn_agent', description: 'x', parameters: schema, strict: false },
        ],
      },
      { type: 'web_search' },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'high', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'key',
    client_metadata: { cwd: 'x' },
  };
}
