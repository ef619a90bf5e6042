// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of everyday work
/** Texts of everyday work: nothing in them is anybody's number, address or key. */
export const harmlessTexts: Readonly<Record<string, string>> = {
  TypeScript:
    "import { createHash } from 'node:crypto';\n\nexport function sha256(bytes: Buffer): string {\n  return createHash('sha256').update(bytes).digest('hex');\n}\n\nconst limits = { bodyBytes: 32 * 1024 * 1024, headMs: 10_000 } as const;\nif (x[0] === '\\u0070') throw new RangeError(`at ${x.length}`);",
  Python:
    'def fib(n: int) -> list[int]:\n    a, b = 0, 1\n    out = []\n    for _ in range(n):\n        out.append(a)\n        a, b = b, a + b\n    return out\n\nassert fib(20)[-1] == 4181\nMAGIC = 0xDEADBEEF\nprint(f"{MAGIC:#018x}", 1_000_000_007, 6.02214076e23)',
  Rust: 'impl Iterator for Lcg {\n    type Item = u64;\n    fn next(&mut self) -> Option<u64> {\n        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);\n        Some(self.0 >> 33)\n    }\n}',
  C: '#define FNV_PRIME 1099511628211ULL\n#define FNV_OFFSET 14695981039346656037ULL\nuint64_t hash(const char *s) {\n  uint64_t h = FNV_OFFSET;\n  while (*s) h = (h ^ (unsigned char)*s++) * FNV_PRIME;\n  return h;\n}',
  SQL: "SELECT o.id, SUM(l.amount) AS total\nFROM orders o JOIN lines l ON l.order_id = o.id\nWHERE o.created_at >= '2026-01-01' AND o.state <> 'cancelled'\nGROUP BY o.id HAVING SUM(l.amount) > 1000.00\nORDER BY total DESC LIMIT 50 OFFSET 100;",
  'a migration':
    "INSERT INTO schema_migrations (version) VALUES ('20260107120000'), ('20260108093015'), ('20260212174500');",
  'a shell script':
    'set -euo pipefail\nfor f in "$(git rev-parse --show-toplevel)"/src/**/*.ts; do\n  wc -l "$f" | awk \'{ if ($1 > 300) print $2 ": " $1 }\'\ndone\ncurl -fsS -H "Authorization: Bearer $TOKEN" "$URL/healthz" || exit 1',
  'a Dockerfile':
    'FROM node:22.11.0-bookworm-slim@sha256:4f3c2a1b0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a3f2e1d0c9b8a7f6e5d4c3b\nWORKDIR /app\nCOPY package*.json ./\nRUN npm ci --omit=dev\nUSER node\nCMD ["node", "dist/main.js"]',
  'a stack trace':
    "TypeError: Cannot read properties of undefined (reading 'id')\n    at findUser (/app/src/users.ts:42:17)\n    at async handle (/app/src/routes.ts:118:5)\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)",
  'a server log':
    '2026-01-07T12:34:56.789Z INFO  [worker-3] req=01JH2V5Y9Q8W7E6R5T4Y3U2I1O GET /v1/items/1704112496789 200 12.4ms\n2026-01-07T12:34:57.001Z WARN  [worker-3] slow query 1532 ms rows=10485760\n2026-01-07T12:34:57.420Z ERROR [worker-1] upstream closed (attempt 2/3, backoff 400 ms)',
  'JSON log lines':
    '{"level":30,"time":1736253296789,"pid":41231,"reqId":"req-1f","responseTime":3.123456789,"msg":"request completed"}\n{"level":40,"time":1736253297001,"pid":41231,"msg":"cache miss","key":"user:8f14e45fceea167a5a36dedd4bea2543"}',
  'a table of numbers':
    '| year | revenue | growth |\n|-----:|--------:|-------:|\n| 2023 | 1,204,331.50 | 4.2 % |\n| 2024 | 1,391,870.25 | 15.6 % |\n| 2025 | 1,512,004.00 | 8.6 % |',
  CSV: 'id,name,qty,price\n100045,Maidenhair Fern,12,8.90\n100046,Sage,40,3.25\n100047,Thyme,35,3.10\n',
  'UUIDs and hashes':
    '550e8400-e29b-41d4-a716-446655440000 f47ac10b-58cc-4372-a567-0e02b2c3d479\nd41d8cd98f00b204e9800998ecf8427e\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'long numbers':
    'The test id is 1234567890123 and the snowflake 175928847299117063; 2^63 - 1 = 9223372036854775807, pi is 3.14159265358979323846.',
  'versions and dates':
    'Upgraded from 4.17.20 to 4.17.21 on 2026-01-07; macOS 15.2 (24C101), Chrome/131.0.6778.86, build 20260107.3, RFC 9112, ISO 8601, section 7.1.4.1.',
  YAML: 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web, labels: { app: web } }\nspec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n        - name: web\n          image: registry.example.org/web:1.4.2\n          env: [{ name: API_KEY, valueFrom: { secretKeyRef: { name: web, key: api-key } } }]',
  'an environment file without values':
    'ANTHROPIC_API_KEY=${ANTHROPIC_API_KEY}\nOPENAI_API_KEY=<your key here>\nDATABASE_PASSWORD=changeme\nSECRET_KEY_BASE=\nPASSWORD=$(cat /run/secrets/password)',
  'words about secrets':
    'How do I rotate an API key without downtime? Our password policy wants 14 characters; tokens expire after 15 minutes. Never commit a private key.',
  'the words of the codename apart':
    'The project ended at last; nightfall came early, and every project after nightfall waits until the morning.',
  Markdown:
    '# Release notes\n\n- **Fixed**: the parser no longer drops `\\r` (#1234)\n- See [the guide](https://example.org/docs/guide#section-2)\n\n> 3 of 4 checks passed.\n\n```bash\nnpm run build && npm test\n```',
  'a regular expression':
    '^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14})$ and \\b\\d{3}-\\d{2}-\\d{4}\\b and [A-Z]{2}\\d{2}[A-Z0-9]{11,30}',
  'base64 of a picture': `data follows: iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`,
  'a minified script':
    '!function(e,t){"object"==typeof exports?module.exports=t():e.x=t()}(this,(()=>{var e={123:(e,t,n)=>{n.d(t,{a:()=>r});const r=1e3}};return e}));',
  assembly: 'mov rax, 0x4141414141414141\nxor rdi, rdi\nlea rsi, [rip + 0x2004]\nsyscall ; 0f 05',
  Russian:
    'Проект завершён, наступила ночь. Объясни, почему цикл выполняется 1 000 000 раз, и предложи более быстрый алгоритм.',
  Greek: 'Το έργο τελείωσε όταν νύχτωσε. Εξήγησε τον κώδικα γραμμή προς γραμμή.',
  Japanese:
    'プロジェクトは夜に終わりました。この関数の計算量を説明して、２０２６年１月の例を三つ挙げてください。',
  Chinese: '请把下面的代码重构成更小的函数，并为每个函数写两个测试。项目在夜幕降临时结束。共计１２３４５行。',
  Korean: '프로젝트는 밤이 되어 끝났습니다. 아래 로그에서 오류의 원인을 찾아 한 문장으로 설명해 주세요.',
  Arabic: 'انتهى المشروع عند حلول الليل. لخّص النص التالي في ثلاث نقاط، واذكر السنة ٢٠٢٦.',
  Hebrew: 'הפרויקט הסתיים עם רדת הלילה. אנא סכם את הטקסט בשלוש נקודות.',
  Hindi: 'परियोजना रात होने पर समाप्त हुई। कृपया नीचे दिए गए कोड को समझाइए और १० उदाहरण दीजिए।',
  Thai: 'โครงการสิ้นสุดลงเมื่อพลบค่ำ ช่วยสรุปข้อความนี้เป็นสามข้อ',
  Vietnamese: 'Dự án kết thúc khi màn đêm buông xuống. Hãy giải thích vì sao hàm này trả về giá trị âm.',
  emoji: '👩‍👩‍👧‍👦 🏳️‍🌈 done ✅ 🇩🇪🇫🇷🇯🇵 1️⃣2️⃣3️⃣ ❤️‍🔥 🧑🏽‍💻',
};
