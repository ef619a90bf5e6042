const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // Texts of strangers can't become markup even where the page's own code would try.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * On every answer below `/_/`: nothing from elsewhere is loaded, run, sent to or framed, and nothing is kept by the
 * browser, which is no place for prompts.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};
