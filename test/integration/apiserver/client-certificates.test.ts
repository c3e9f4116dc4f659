/**
 * The API server authenticates the user that the bytes of a client certificate name, or none.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import type { CertificateSigningRequest } from '../../../src/api/certificates/v1/certificate-signing-request.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import {
  attribute,
  certificateRequest,
  clientCertificate,
  name,
  newKey,
  subject,
} from '../../fixtures/der.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

describe('the holder of a client certificate', () => {
  let server: HttpsTestServer;
  before(async () => {
    server = await startHttpsTestServer();
  });
  after(() => server.stop());

  async function asking(named: Buffer): Promise<{ status: number; body: string }> {
    const key = newKey();
    const cert = clientCertificate(server.authority, named, key, Date.now());
    const sent = request({
      host: '127.0.0.1',
      port: server.port,
      method: 'POST',
      path,
      ca: server.authority.certificate,
      key: key.export({ type: 'pkcs8', format: 'pem' }),
      cert,
      agent: false,
      headers: { 'content-type': 'application/json' },
    });
    sent.end(
      JSON.stringify({
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { generateName: 'who-' },
        spec: {
          request: Buffer.from(certificateRequest(subject('o', 'a'))).toString('base64'),
          signerName: 'example.com/none',
          usages: ['client auth'],
        },
      }),
    );
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, body: await text(response) };
  }

  const masters = attribute('O', 'system:masters');
  const utf16 = (value: string) => Buffer.from(value, 'utf16le').swap16();

  const known: [what: string, named: Buffer, user: string, groups: string[]][] = [
    ['a plain name', subject('system:masters', 'admin'), 'admin', ['system:masters']],
    [
      'groups with similar names',
      name(
        [masters],
        [attribute('O', '"a"')],
        [attribute('O', '#0c0161')],
        [attribute('O', 'a, O=b')],
        [attribute('CN', 'x')],
      ),
      'x',
      ['system:masters', '"a"', '#0c0161', 'a, O=b'],
    ],
    [
      'several groups in one part of the name',
      name([masters, attribute('O', 'b'), attribute('CN', 'x')]),
      'x',
      ['system:masters', 'b'],
    ],
    [
      'BMPString',
      name([attribute('O', utf16('system:masters'), 0x1e)], [attribute('CN', 'x')]),
      'x',
      ['system:masters'],
    ],
    [
      'two common names, of which the last counts, as upstream',
      name([masters], [attribute('CN', 'x')], [attribute('CN', 'y')]),
      'y',
      ['system:masters'],
    ],
  ];
  for (const [what, named, user, groups] of known) {
    it(`is authenticated with ${what}`, async () => {
      const { status, body } = await asking(named);
      assert.equal(status, 201, body);
      const { spec } = JSON.parse(body) as CertificateSigningRequest;
      assert.equal(spec.username, user);
      assert.deepEqual(spec.groups, [...groups, 'system:authenticated']);
    });
  }

  for (const group of [
    '"system:masters"',
    '#0c0e73797374656d3a6d617374657273',
    'system:masters ',
    'a\\, system:masters',
  ]) {
    it(`is not in a group of another spelling: ${group}`, async () => {
      const { status, body } = await asking(subject(group, 'mallory'));
      assert.equal(status, 403, body);
      assert.match((JSON.parse(body) as Status).message ?? '', /^.*User "mallory" cannot create/);
    });
  }

  const unreadable: [what: string, named: Buffer][] = [
    ['a NUL in the group', name([attribute('O', 'system:masters\0')], [attribute('CN', 'x')])],
    ['a NUL in the name', name([masters], [attribute('CN', 'admin\0.example')])],
    ['a line break', name([masters], [attribute('CN', 'a\nO=b')])],
    ['T.61 beyond ASCII', name([masters], [attribute('CN', Buffer.of(0xe9), 0x14)])],
    ['no common name', name([masters])],
  ];
  for (const [what, named] of unreadable) {
    it(`is not authenticated with ${what}`, async () => {
      assert.equal((await asking(named)).status, 401);
    });
  }
});
