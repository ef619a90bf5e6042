import { drawHarmless } from './harmless.ts';
import type { Random } from './random.ts';
import { carriers, drawDistinct, type LabelledClass, listed, plant, templates } from './sample.ts';

export function labelIpAddresses(): LabelledClass {
  return {
    positives: plant(6001, 700, makers, [...carriers, ...own]),
    negatives: [...drawHarmless(6002, 1400), ...drawDistinct(6003, 1000, nearMisses)],
  };
}

const octet = (random: Random) => random.number(0, 255);
const group = (random: Random) => random.number(0, 65535).toString(16);

const makers: readonly ((random: Random) => string)[] = [
  (random) =>
    `${random.pick([3, 23, 52, 81, 104, 142, 185, 203, 217])}.${octet(random)}.${octet(random)}.${octet(random)}`,
  (random) => `192.168.${octet(random)}.${octet(random)}`,
  (random) => `10.${octet(random)}.${octet(random)}.${octet(random)}`,
  (random) => `172.${random.number(16, 31)}.${octet(random)}.${octet(random)}`,
  (random) =>
    `2001:db8:${group(random)}:${group(random)}:${group(random)}:${group(random)}:${group(random)}:${group(random)}`,
  (random) => `2a01:4f8:${group(random)}:${group(random)}::${random.number(1, 9)}`,
  (random) => `2606:4700:${group(random)}::${group(random)}`,
  (random) => `fe80::${group(random)}:${group(random)}:${group(random)}:${group(random)}`,
  (random) => `fd${random.hex(2)}:${group(random)}::${group(random)}`,
  (random) => `::ffff:203.0.113.${octet(random)}`,
  (random) => `2001:DB8::${group(random).toUpperCase()}`,
];

const own = listed(`
  ssh root@{} | http://{}/index.html | Failed password for root from {} port 22 ssh2
  {} - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 #d4 | ping {} | {}/32 dev eth0
  host={} port=5432 | client {} disconnected | nameserver {} | server ({}) is down
  "remote_addr":"{}" | X-Forwarded-For: {}, {} | address {}, netmask 255.255.255.0
  der Server {} antwortet nicht
`);

const nearMisses = templates(
  listed(`
  256.1.2.3 | 1.2.3 | 1.2.3.4.5 | 10.0.0 | 300.#n.#n.#n | v1.2.3.4 | version 2.#n.0.1
  Version=4.0.0.0, Culture=neutral | release 3.1.#n.2 | pkg@1.2.3.4 | "x": "^1.2.3.4" | foo==1.#n.3.4
  Chrome/99.0.#d4.82 | build 6.1.7601.#d5 | section 3.2.1.4 | see 3.2.1.4 for this | RFC 7540 8.1.2.4
  OID 1.3.6.1 | oid 2.5.29.17 | 1.3.6.1.4.1.#d4.1 | 2.5.4.#n | 127.0.0.1 | 127.0.0.53 | 0.0.0.0:#d4
  255.255.255.0 | 255.255.255.255 | ::1 | :: | [::1]:#d4 | 0.0.0.0/0 | ::/0 | 12:34:56 | 00:1b:44:11:3a:b7
  #h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2 | #h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2
  std::cout | dead::beef | abc::def::fed | a::b | Foo::Bar | fe::d | 1:2:3:4 | 1:2:3:4:5:6:7:8:9
  10:20:30.#d3 | 2025-01-01T10:00:00 | urn:isbn:0451450523 | a:b:c:d:e:f:g:h | ratio 1:2:3 | #d3.#d3
  1.234.567,89 | 1.234.567.890 | 12.345.678.901 | 01.02.03.04 | 010.001.002.003 | 3.14.15.926
  app-1.2.3.4.jar | driver_1.2.#n.4.dll | libfoo.so.1.2.3.4 | 1.2.3.4-beta | 1.2.3.4-rc#n
  v10.0.19045.#d4 | Firmware 1.0.9.88 | Gecko Firefox/115.0.2.1 | $1.2.3.4x | x1.2.3.4 | a.1.2.3.4
  face:b00c | cafe:: | sha1:#h40 | #h8:#h8 | key: 2001:xyz::1 | 1::2
`),
);
