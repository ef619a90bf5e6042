/** A configuration with all kinds of rules; the project `other` is stricter about what can't be looked into. */
export function houseConfig({ anthropic, openai }: { anthropic: string; openai: string }): string {
  return `
providers:
  claude: { dialect: anthropic, base_url: "${anthropic}", api_key: "\${PROVIDER_KEY}" }
  gpt: { dialect: openai, base_url: "${openai}/v1", api_key: "\${PROVIDER_KEY}" }
  google: { dialect: gemini, base_url: "${openai}", api_key: "\${PROVIDER_KEY}" }
models:
  - { match: harmless-alias, provider: gpt, model: gpt-banned }
  - { match: with-fallback, provider: gpt, model: gpt-test, fallbacks: [{ provider: claude, model: claude-banned }] }
  - { match: "claude-*", provider: claude }
  - { match: "gpt-*", provider: gpt }
  - { match: "gemini-*", provider: google }
  - { match: embed, provider: gpt }
policies:
  house:
    apply: all
    rules:
      - { id: models, action: block, unless: { model: [claude-test, gpt-test, gemini-test, embed, harmless-alias, with-fallback] }, reason: model.not_allowed }
      - { id: short-answers, action: block, when: { max_output_tokens: { over: 1000 } }, reason: limits.max_output_tokens }
      - { id: no-shell, action: block, when: { tools: [shell, local_shell, "bash_*"] }, reason: tools.not_allowed }
      - { id: codename, action: block, when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }
      - { id: cards, action: block, when: { text: { detect: [credit_card] } }, reason: content.credit_card }
  strict:
    opaque_content: block
    unseen_references: block
projects:
  shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { policies: [strict], keys: [{ id: strict-web, value: "\${OTHER_KEY}" }] }
`;
}
