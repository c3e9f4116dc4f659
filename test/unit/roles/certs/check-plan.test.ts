import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCertificates } from '../../../../src/roles/certs/certificate-list.ts';
import {
  type CertificateContent,
  checkCertificates,
  type Holder,
} from '../../../../src/roles/certs/check-plan.ts';

const day = 24 * 3600 * 1000;
const now = Date.parse('2026-06-01T12:00:00Z');

const good: CertificateContent = {
  subject: ['O=people', 'CN=anna'],
  names: [],
  issuer: ['CN=minik8s'],
  notBefore: now - day,
  notAfter: now + 100 * day,
  isOfCluster: true,
  fitsKey: true,
};

/** A machine that OpenRC runs. */
const restart = 'rc-service minik8s restart';

const check = (holder: Holder, content: CertificateContent | undefined, withinDays = 30) => {
  const path = holder === 'authority' ? '/data/pki/ca.crt' : '/data/file';
  const [checked] = checkCertificates([{ path, holder, content }], { now, withinDays, restart });
  assert.ok(checked);
  return checked;
};

test('a valid certificate is listed with its expiry, the days left and its renewal, without a remedy', () => {
  const checked = check('master', { ...good, names: ['localhost'] });
  assert.deepEqual(checked, {
    path: '/data/file',
    subject: 'O=people, CN=anna',
    names: ['localhost'],
    issuer: 'CN=minik8s',
    notBefore: '2026-05-31T12:00:00.000Z',
    notAfter: '2026-09-09T12:00:00.000Z',
    daysLeft: 100,
    renewedBy: 'the master, at its start and 60 days before the end',
  });
});

const faults: [what: string, content: CertificateContent | undefined, problem: RegExp][] = [
  ['an unreadable certificate', undefined, /cannot be read/],
  ['a certificate that has just expired', { ...good, notAfter: now }, /has expired/],
  ['a certificate that expires in 30 days', { ...good, notAfter: now + 30 * day }, /expires within 30 days/],
  [
    'a certificate that is not valid yet',
    { ...good, notBefore: now + 1 },
    /not valid yet by the clock .*2026-06-01T12/,
  ],
  [
    'a certificate that another authority has signed',
    { ...good, isOfCluster: false },
    /not signed by this cluster's authority/,
  ],
  ['a certificate whose key does not fit', { ...good, fitsKey: false }, /its key is missing/],
];
for (const [what, content, problem] of faults)
  test(`${what} is a problem with a remedy, for every kind of holder`, () => {
    for (const holder of ['authority', 'front-proxy', 'master', 'node-trust', 'node', 'user'] as const) {
      const checked = check(holder, content);
      assert.match(checked.problem ?? '', problem);
      assert.match(checked.remedy ?? '', /minik8s/);
      assert.doesNotMatch(checked.remedy ?? '', /systemctl/);
    }
  });

test('a certificate that ends one millisecond after the limit is valid, and so is one without an authority or key to compare', () => {
  assert.equal(check('master', { ...good, notAfter: now + 30 * day + 1 }).problem, undefined);
  assert.equal(check('user', { ...good, isOfCluster: undefined, fitsKey: undefined }).problem, undefined);
  assert.match(check('master', good, 100).problem ?? '', /within 100 days/);
  assert.equal(check('master', { ...good, notAfter: now - 1 }).daysLeft, -1);
});

test('the remedy is the command that renews or replaces the certificate in the file', () => {
  const over = { ...good, notAfter: now - day };
  assert.equal(check('master', over).remedy, restart);
  assert.equal(
    check('user', over).remedy,
    'mv /data/file /data/file.old, and on a master minik8s user create anna --file /data/file',
  );
  assert.match(check('user', undefined).remedy ?? '', /user create NAME --file/);
  assert.equal(check('authority', { ...good, notAfter: now + day }).remedy, 'minik8s certs rotate-ca');
  assert.match(check('authority', over).remedy ?? '', /rm \/data\/pki\/ca\.crt \/data\/pki\/ca\.key/);
  assert.match(check('authority', { ...over, fitsKey: false }).remedy ?? '', /restore \/data\/pki\/ca\.crt/);
});

test('the table lists each certificate with its file and names, and below it each problem with its remedy', () => {
  const text = formatCertificates(
    checkCertificates(
      [
        { path: '/data/pki/ca.crt', holder: 'authority', content: good },
        {
          path: '/data/admin.conf',
          entry: 'user admin',
          holder: 'master',
          content: { ...good, notAfter: now },
        },
        { path: '/data/pki/a.crt', holder: 'master', content: { ...good, names: ['a', '192.0.2.1'] } },
        { path: '/data/pki/b.crt', holder: 'master', content: undefined },
      ],
      { now, withinDays: 30, restart },
    ),
  );
  assert.match(
    text,
    /^SUBJECT +ISSUER +EXPIRES +DAYS +RENEWED BY\n {2}O=people, CN=anna +CN=minik8s +2026-09-09 12:00 +100 /,
  );
  assert.match(text, /\n {4}\/data\/pki\/a\.crt\n {4}for a, 192\.0\.2\.1\n/);
  assert.match(text, /\n! <unreadable> /);
  assert.match(
    text,
    /\n\n\/data\/admin\.conf \(user admin\): it has expired; to mend it: rc-service minik8s restart\n\/data\/pki\/b\.crt: it cannot be read; /,
  );
});
