import { expect, test } from 'vitest';
import { createRandom } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import { decider, saying } from '../deciding.ts';

const sentences = [
  'The gateway forwards each request to its provider and writes a record of what it did; nobody has to wait.',
  'Der Anbieter hat am 3. März 2026 neue Preise veröffentlicht: 12,50 € je Million Wörter, für große Verträge weniger.',
  'Perché la città è così tranquilla? È già l’una di notte e piove da più di tre ore.',
  'Příliš žluťoučký kůň úpěl ďábelské ódy, a přitom bylo teprve půl sedmé ráno.',
  'Işık hızla söndü; İstanbul’un ıssız sokaklarında yalnız kaldık, saat on biri çeyrek geçiyordu.',
  'Στις 28 Οκτωβρίου θα μείνουμε στο σπίτι· το βράδυ θα έρθουν οι φίλοι μας από τη Θεσσαλονίκη.',
  'Встреча перенесена на четверг, 14 мая; из 120 приглашённых ответили только семьдесят два.',
  'הפגישה נדחתה ליום חמישי, ולכן נשלח את הדוח המעודכן רק בשבוע הבא.',
  'تأجل الاجتماع إلى يوم الخميس، ولذلك سنرسل التقرير المعدّل في الأسبوع القادم (١٢ صفحة).',
  'बैठक गुरुवार तक टल गई है, इसलिए संशोधित रिपोर्ट अगले सप्ताह ३ बजे भेजी जाएगी।',
  'கூட்டம் வியாழக்கிழமைக்கு ஒத்திவைக்கப்பட்டுள்ளது; அறிக்கை அடுத்த வாரம் வரும்.',
  'การประชุมเลื่อนไปวันพฤหัสบดีหน้า จึงจะส่งรายงานฉบับแก้ไขในสัปดาห์หน้า เวลา ๑๐ นาฬิกา',
  'Cuộc họp được dời sang thứ năm; vì vậy báo cáo sửa đổi sẽ được gửi vào tuần tới.',
  '会议推迟到星期四,所以修改后的报告下周才能发送。预计一共有二十四页,请大家提前阅读。',
  '会議は木曜日に延期されました。そのため、修正した報告書は来週お送りします。カタカナも、ひらがなも。',
  '회의가 목요일로 연기되어 수정된 보고서는 다음 주에 보내 드리겠습니다. 이 일은 아이들이 기다립니다.',
  'შეხვედრა ხუთშაბათისთვის გადაიდო, ამიტომ ანგარიშს მომავალ კვირას გამოგზავნიან.',
  '👩‍👩‍👧‍👦 and 🏳️‍🌈 went to 🇫🇷 🇩🇪 🇯🇵; ❤️‍🔥 ☕️ 1️⃣ 2️⃣ 3️⃣ … 👍🏽 🧑🏿‍💻 ½ ⅓ ™ © №',
  'for (let i = 0, l = items.length; i < l; i += 1) { if (items[i] !== null) out.push(i, items[i]); }',
  'def f(x: int) -> str:\n\treturn "\\x00\\x1b[31m" + str(x ** 2) + "\\u200b"  # ok\n\n\nprint(f(3))',
  "SELECT id, name FROM t WHERE a <> b AND c ILIKE '%l%' ORDER BY 1 LIMIT 10;\r\n-- ok\r\n",
  '\u001b[1mBold\u001b[0m \u001b[32mgreen\u001b[0m line\u0007\n\u0008\u000c\u007f tab\there',
  'ﬁrst oﬃce ﬂoor; co\u00adoperation, soft\u00adware, naı\u0308ve; x² + y³ = z⁴; ①②③ ⒈⒉ ㊙️ ㎏',
];
const phrases = [
  ...'project,internal,operation,codename,secret'
    .split(',')
    .flatMap((noun) =>
      'aurora,zeus,falcon,orion,titan,nightfall'.split(',').map((name) => `${noun} ${name}`),
    ),
  ...'million oil bills,internal use only,top secret,do not share,illicit,pilgrim,ollie,minimum'.split(','),
];
const decide = decider({
  rules: [
    { id: 'phrases', action: 'block', when: { text: { phrases } } },
    {
      id: 'detectors',
      action: 'block',
      when: {
        text: {
          detect: ['credit_card', 'email', 'phone', 'iban', 'us_ssn', 'ip_address', 'secrets', 'private_key'],
        },
      },
    },
  ],
});

test('parts of prose in twenty languages, emoji and code are let pass in any order, whole and as blocks', () => {
  const random = createRandom(7);
  const part = () => {
    const words = random.of(sentences).split(' ');
    const from = random.below(words.length);
    return words.slice(from, from + 1 + random.below(12)).join(' ');
  };
  for (let round = 0; round < scale(250, 2_000); round += 1) {
    const parts = Array.from({ length: 4 }, part);
    const isWhole = round % 2 === 0;
    const body = saying(
      isWhole ? parts.join(random.of([' ', '\n', '. '])) : parts.map((text) => ({ type: 'text', text })),
    );

    const { action, verdicts } = decide(body);

    expect([parts, action, verdicts]).toEqual([parts, 'allow', []]);
  }
});
