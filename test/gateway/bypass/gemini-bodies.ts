import { args, output, prompts, type Random, schema, stamp } from './random-source.ts';

export const geminiCli = (random: Random) => ({
  systemInstruction: { role: 'user', parts: [{ text: 'You are an interactive CLI agent.' }] },
  contents: [
    { role: 'user', parts: [{ text: `Today is ${stamp(random)}.\nMy operating system is: linux` }] },
    { role: 'model', parts: [{ text: 'Got it. Thanks for the context!' }] },
    { role: 'user', parts: [{ text: random.pick(prompts) }] },
    {
      role: 'model',
      parts: [
        { text: 'I should read the file first.', thought: true },
        { functionCall: { name: 'read_file', args: args(random) }, thoughtSignature: random.id(340) },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: `read_file-${random.number(1e9)}`,
            name: 'read_file',
            response: { output: output(random) },
          },
        },
      ],
    },
  ],
  tools: [
    {
      functionDeclarations: ['read_file', 'replace', 'run_shell_command'].map((name) => ({
        name,
        description: `${name} in the project`,
        parametersJsonSchema: schema,
      })),
    },
  ],
  generationConfig: {
    temperature: 0,
    topP: 1,
    maxOutputTokens: 32_000,
    thinkingConfig: { thinkingBudget: -1, includeThoughts: true },
  },
  safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
});

export const googleSdk = (random: Random) => ({
  system_instruction: { parts: [{ text: 'Answer from the context only.' }] },
  contents: [{ role: 'user', parts: [{ text: output(random) }, { text: random.pick(prompts) }] }],
  tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['lookup'] } },
  tools: [{ function_declarations: [{ name: 'lookup', description: 'Looks it up', parameters: schema }] }],
  generation_config: {
    candidate_count: 1,
    max_output_tokens: 2_048,
    stop_sequences: ['\nObservation:'],
    response_mime_type: 'application/json',
    response_json_schema: schema,
  },
});

export const geminiEmbeddings = (random: Random) => ({
  requests: [random.pick(prompts), output(random)].map((text) => ({
    model: 'models/gemini-embedding-001',
    content: { role: 'user', parts: [{ text }] },
    taskType: 'RETRIEVAL_DOCUMENT',
    title: 'notes',
    outputDimensionality: 768,
  })),
});
