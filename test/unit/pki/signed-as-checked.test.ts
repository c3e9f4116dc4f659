/** The checks of a request, the signed certificate, and the API server read the same fields. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { readCertificate, readSubject } from '../../../src/formats/certificate-names.ts';
import { readCertificateRequest, signCertificateRequest } from '../../../src/pki/certificate-requests.ts';
import { createAuthority, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import {
  attribute,
  certificateRequest,
  der,
  extension,
  extensionRequest,
  name,
  newKey,
  oid,
  sequence,
  set,
  subject,
  subjectAltName,
} from '../../fixtures/der.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const day = 24 * 3600 * 1000;
const terms = { usages: ['client auth'], notBefore: start, notAfter: start + day };
let authority: KeyAndCertificate;
before(async () => {
  authority = await createAuthority('test', start, start + 100 * day);
});

const sign = async (pem: string) => new X509Certificate(await signCertificateRequest(authority, pem, terms));
const rsaKey = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const namesIn = (certificate: X509Certificate) => readSubject(readCertificate(certificate.raw).subject);
const utf16 = (text: string) => Buffer.from(text, 'utf16le').swap16();
const utf32 = (text: string) =>
  Buffer.concat([...text].map((one) => Buffer.from([0, 0, 0, one.charCodeAt(0)])));

describe('an organization', () => {
  const smuggled = [
    '"system:masters"',
    '#0c0e73797374656d3a6d617374657273',
    '\\73ystem:masters',
    'system:masters ',
    ' system:masters',
    'a, O=system:masters',
    'a+O=system:masters',
    'a/O=system:masters',
    'ſystem:masters',
    '\ufeffsystem:masters',
    '\\"system:masters\\"',
    '<system:masters>',
    '=',
  ];
  for (const value of smuggled) {
    test(`${JSON.stringify(value)} is signed and read unchanged, and never as another group`, async () => {
      const pem = certificateRequest(subject(value, 'alice'));
      assert.deepEqual((await readCertificateRequest(pem)).organizations, [value]);
      const certificate = await sign(pem);
      assert.deepEqual(namesIn(certificate), { commonNames: ['alice'], organizations: [value] });
      assert.deepEqual(readCertificate(certificate.raw).subject.whole, subject(value, 'alice'));
    });
  }

  const spelled: [what: string, tag: number, bytes: Buffer][] = [
    ['PrintableString', 0x13, Buffer.from('system:masters')],
    ['T61String', 0x14, Buffer.from('system:masters')],
    ['IA5String', 0x16, Buffer.from('system:masters')],
    ['BMPString', 0x1e, utf16('system:masters')],
    ['UniversalString', 0x1c, utf32('system:masters')],
  ];
  for (const [what, tag, bytes] of spelled) {
    test(`that is encoded as ${what} is read alike in the request and in the certificate`, async () => {
      const pem = certificateRequest(name([attribute('O', bytes, tag)], [attribute('CN', 'alice')]));
      assert.deepEqual((await readCertificateRequest(pem)).organizations, ['system:masters']);
      assert.deepEqual(namesIn(await sign(pem)).organizations, ['system:masters']);
    });
  }

  test('is read at any position, also beside other organizations in one part of the name', async () => {
    const organizations = ['developers', 'b', 'system:masters'].map((value) => attribute('O', value));
    const together = [attribute('CN', 'alice'), ...organizations].sort(Buffer.compare);
    const pem = certificateRequest(name(together, [attribute('O', 'last')]));
    const seen = (await readCertificateRequest(pem)).organizations;
    assert.deepEqual([...seen].sort(), ['b', 'developers', 'last', 'system:masters']);
    assert.deepEqual(namesIn(await sign(pem)), { commonNames: ['alice'], organizations: seen });
  });
});

const cn = attribute('CN', 'a');
const refused: [what: string, pem: string, why: RegExp][] = [
  ['two common names', certificateRequest(name([cn], [cn])), /more than one common name/],
  [
    'two common names in one part',
    certificateRequest(name([cn, attribute('CN', 'b')])),
    /more than one common name/,
  ],
  ['a NUL in its subject', certificateRequest(subject('a\0b', 'c')), /control character/],
  ['a NUL in BMPString', certificateRequest(name([attribute('O', utf16('a\0'), 0x1e)])), /control character/],
  [
    'a line break in its subject',
    certificateRequest(subject('a', 'b\nO=system:masters')),
    /control character/,
  ],
  ['an empty value in its subject', certificateRequest(subject('', 'a')), /empty value/],
  [
    'half a character in BMPString',
    certificateRequest(name([attribute('O', Buffer.of(0, 97, 0), 0x1e)])),
    /readable|not of its type/,
  ],
  [
    'half a surrogate pair',
    certificateRequest(name([attribute('O', Buffer.of(0xd8, 0), 0x1e)])),
    /not of its type/,
  ],
  [
    'bytes that are not UTF-8',
    certificateRequest(name([attribute('O', Buffer.of(0xc3, 0x28))])),
    /not of its type/,
  ],
  ['overlong UTF-8', certificateRequest(name([attribute('O', Buffer.of(0xc1, 0xb3))])), /not of its type/],
  ['T.61 beyond ASCII', certificateRequest(name([attribute('O', Buffer.of(0xe9), 0x14)])), /not of its type/],
  ['a quote in PrintableString', certificateRequest(name([attribute('O', '"a"', 0x13)])), /not of its type/],
  [
    'an unsupported type of string',
    certificateRequest(name([attribute('O', 'a', 0x1b)])),
    /type that is not supported \(0x1b\)/,
  ],
  [
    'a group that is a number',
    certificateRequest(name([attribute('O', Buffer.of(1), 0x02)])),
    /not supported \(0x2\)/,
  ],
  [
    'a name of hundreds of parts',
    certificateRequest(name(...Array.from({ length: 500 }, () => [attribute('O', 'a')]))),
    /the subject must not be longer than 2048 bytes/,
  ],
  [
    'data after the attributes',
    certificateRequest(subject('o', 'a'), [], newKey(), [set()]),
    /the request has extra parts/,
  ],
  ['a key of 1,024 bits', certificateRequest(subject('o', 'a'), [], rsaKey(1024)), /at least 2048 bits/],
  ['a part without attributes', certificateRequest(sequence(set())), /part without attributes/],
  [
    'two lists of extensions',
    certificateRequest(subject('o', 'a'), [
      extensionRequest(subjectAltName()),
      extensionRequest(subjectAltName()),
    ]),
    /asks for extensions twice/,
  ],
  [
    'two lists of extensions in one attribute',
    certificateRequest(subject('o', 'a'), [
      sequence(oid('1.2.840.113549.1.9.14'), set(sequence(subjectAltName()), sequence(subjectAltName()))),
    ]),
    /asks for extensions twice/,
  ],
  [
    'alternative names twice',
    certificateRequest(subject('o', 'a'), [
      extensionRequest(
        subjectAltName(der(0x82, Buffer.from('a'))),
        subjectAltName(der(0x82, Buffer.from('b'))),
      ),
    ]),
    /the extension 2\.5\.29\.17 is given twice/,
  ],
  ...(
    [
      ['otherName', der(0xa0, oid('1.2.3'), der(0xa0, der(0x0c, Buffer.from('a'))))],
      ['directoryName', der(0xa4, subject('o', 'kubernetes'))],
      ['registeredID', der(0x88, Buffer.of(0x2a, 3))],
    ] as const
  ).map(([type, value]): [string, string, RegExp] => [
    `an alternative name of type ${type}`,
    certificateRequest(subject('o', 'a'), [extensionRequest(subjectAltName(value))]),
    new RegExp(`a subjectAltName of type ${type} is not supported`),
  ]),
  ...[
    ['a NUL in a DNS name', der(0x82, Buffer.from('kubernetes\0.example'))],
    ['a space in a DNS name', der(0x82, Buffer.from('a b'))],
    ['a DNS name beyond ASCII', der(0x82, Buffer.from('kübernetes'))],
    ['an empty DNS name', der(0x82)],
    ['an address of five bytes', der(0x87, Buffer.of(10, 96, 0, 1, 0))],
    ['an address with a mask', der(0x87, Buffer.of(10, 96, 0, 0, 255, 255, 0, 0))],
  ].map(([what, value]): [string, string, RegExp] => [
    String(what),
    certificateRequest(subject('o', 'a'), [extensionRequest(subjectAltName(value as Buffer))]),
    /a subjectAltName has a value that is not of its type/,
  ]),
];
for (const [what, pem, why] of refused) {
  test(`a request with ${what} is refused and not signed`, async () => {
    await assert.rejects(readCertificateRequest(pem), why);
    await assert.rejects(sign(pem), why);
  });
}

test('an RSA key of 2,048 bits is strong enough', async () => {
  const certificate = await sign(certificateRequest(subject('o', 'a'), [], rsaKey(2048)));
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.modulusLength, 2048);
});

test('alternative names are signed as the bytes that were checked', async () => {
  const mapped = Buffer.from('00000000000000000000ffff0a600001', 'hex');
  const asked = subjectAltName(
    der(0x82, Buffer.from('KUBERNETES.default')),
    der(0x87, mapped),
    der(0x82, Buffer.from('*')),
  );
  const pem = certificateRequest(subject('o', 'a'), [extensionRequest(asked)]);
  const content = await readCertificateRequest(pem);
  assert.deepEqual(content.dnsNames, ['KUBERNETES.default', '*']);
  assert.deepEqual(content.ipAddresses, ['10.96.0.1']);
  const certificate = await sign(pem);
  assert.ok(certificate.raw.includes(asked), 'the extension is there, byte for byte');
});

test('without a subject the subjectAltNames are critical', async () => {
  const names = [der(0x82, Buffer.from('a'))];
  const critical = extension('2.5.29.17', sequence(...names), true);
  const sign_ = async (named: Buffer) =>
    (await sign(certificateRequest(named, [extensionRequest(subjectAltName(...names))]))).raw;
  assert.ok((await sign_(sequence())).includes(critical));
  assert.ok((await sign_(subject('o', 'a'))).includes(subjectAltName(...names)));
});

test('nothing else of a request is signed, neither an authority nor another usage', async () => {
  const authorityAsked = extension('2.5.29.19', sequence(der(0x01, Buffer.of(0xff))), true);
  const usageAsked = extension('2.5.29.37', sequence(oid('2.5.29.37.0')));
  const pem = certificateRequest(subject('o', 'a'), [extensionRequest(authorityAsked, usageAsked)]);
  const certificate = await sign(pem);
  assert.equal(certificate.ca, false);
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  const { extensions } = readCertificate(certificate.raw);
  assert.deepEqual([...extensions.keys()].sort(), ['2.5.29.19', '2.5.29.35', '2.5.29.37']);
});

test('a request is exactly one PEM block of base64, which may follow other text', async () => {
  const pem = certificateRequest(subject('o', 'alice'));
  const other = certificateRequest(subject('o', 'bob'));
  assert.equal(
    (await readCertificateRequest(`words before\n${pem.replaceAll('\n', '\r\n')}`)).commonName,
    'alice',
  );
  await assert.rejects(readCertificateRequest(pem + other), /one PEM block/);
  await assert.rejects(readCertificateRequest(`-----BEGIN X-----\n${pem}`), /one PEM block/);
  await assert.rejects(readCertificateRequest(pem.replace('\n', '\n!')), /not base64/);
});

test('for all bytes, the subject is signed unchanged, or not at all', async () => {
  const random = new SeededRandom(9);
  let taken = 0;
  for (let round = 0; round < 400; round++) {
    const bytes = Buffer.from(name([attribute('O', 'system:masters', 0x13)], [attribute('CN', 'alice')]));
    for (let change = random.below(3); change >= 0; change--)
      bytes[random.below(bytes.length)] = random.below(256);
    const pem = certificateRequest(bytes);
    const content = await readCertificateRequest(pem).catch((error: Error) => {
      assert.ok(!error.message.includes('\n'));
      return undefined;
    });
    if (!content) continue;
    taken++;
    const { commonNames, organizations } = namesIn(await sign(pem));
    assert.deepEqual([commonNames.join(), organizations], [content.commonName, content.organizations]);
  }
  assert.ok(taken > 20, `only ${taken} were taken`);
});
