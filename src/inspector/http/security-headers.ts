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
  // Untrusted texts can't become markup, even if the page's own code tried.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * On every answer below `/_/`: the page loads and runs nothing from elsewhere, connects to nothing else and can't be
 * framed, and the browser caches nothing, because answers contain prompts.
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
