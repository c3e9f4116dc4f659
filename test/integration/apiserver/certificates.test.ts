/** CertificateSigningRequests of different users, of an administrator's kubectl, and malformed ones. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  type CertificateSigningRequest,
  certificateSigningRequestResource as certificates,
} from '../../../src/api/certificates/v1/certificate-signing-request.ts';
import { kubernetesMessages } from '../../../src/api/message-table.ts';
import { protobufType } from '../../../src/apimachinery/protobuf/envelope.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import type { Authorizer } from '../../../src/apiserver/authorization/authorizer.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { makeKey, makeRequest, type RequestedSubject } from '../../../src/pki/new-request.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlsOf } from '../../fixtures/kubectls.ts';
import { encodeMessage, envelope } from '../../fixtures/protobuf-writer.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const clientSigner = 'kubernetes.io/kube-apiserver-client';

async function requestOf(subject: RequestedSubject): Promise<string> {
  return Buffer.from(await makeRequest(await makeKey(), subject)).toString('base64');
}

const alice = { commonName: 'alice', organizations: ['developers'] };

async function draft(spec: object = {}, subject: RequestedSubject = alice) {
  const request = await requestOf(subject);
  const base = { request, signerName: clientSigner, usages: ['client auth'], expirationSeconds: 86_400 };
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'alice' },
    spec: { ...base, ...spec },
  };
}

for (const { version, path: binary } of kubectlsOf(['1.32', '1.27'])) {
  describe(`kubectl ${version} and certificates`, { timeout: 300_000 }, () => {
    let server: HttpsTestServer;
    let cluster: Cluster;
    let env: NodeJS.ProcessEnv;

    before(async () => {
      server = await startHttpsTestServer({ clock: systemClock });
      cluster = await startCluster({ server, authority: server.authority });
      const KUBECONFIG = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
      env = { ...process.env, HOME: server.directory, KUBECONFIG };
    });
    after(() => cluster.stop());

    const kubectl = async (...args: string[]) =>
      (await promisify(execFile)(binary, args, { env, timeout: 120_000 })).stdout;

    it('creates a user by a request, its approval and the certificate', async () => {
      const path = join(server.directory, 'alice.json');
      const key = await makeKey();
      const pem = await makeRequest(key, alice);
      const manifest = await draft({ request: Buffer.from(pem).toString('base64') });
      await writeFile(path, JSON.stringify(manifest));
      assert.equal(
        await kubectl('create', '-f', path),
        'certificatesigningrequest.certificates.k8s.io/alice created\n',
      );
      assert.match(
        await kubectl('get', 'csr'),
        /^NAME +AGE +SIGNERNAME +REQUESTOR +REQUESTEDDURATION +CONDITION\nalice +\d+s +kubernetes\.io\/kube-apiserver-client +kubernetes-admin +24h +Pending\n$/,
      );
      assert.equal(
        await kubectl('certificate', 'approve', 'alice'),
        'certificatesigningrequest.certificates.k8s.io/alice approved\n',
      );
      const issued = await eventually(
        systemClock,
        'the certificate',
        async () => (await cluster.get(certificates, 'alice'))?.status?.certificate,
      );
      const certificate = Buffer.from(issued, 'base64').toString();
      assert.equal(new X509Certificate(certificate).subject, 'O=developers\nCN=alice');
      assert.match(await kubectl('get', 'csr', 'alice', '--no-headers'), /24h +Approved,Issued\n$/);
      const files = { ca: server.authority.certificate, crt: certificate, key };
      for (const [name, content] of Object.entries(files))
        await writeFile(join(server.directory, name), content);
      const asAlice = [
        '--kubeconfig=/dev/null',
        `--server=https://127.0.0.1:${server.port}`,
        `--certificate-authority=${server.directory}/ca`,
        `--client-certificate=${server.directory}/crt`,
        `--client-key=${server.directory}/key`,
      ];
      await assert.rejects(kubectl('get', 'pods', ...asAlice), /User "alice" cannot list resource "pods"/);
      assert.match(await kubectl('describe', 'csr', 'alice'), /Common Name: +alice\n/);
    });

    it('denies a request of a machine', async () => {
      const path = join(server.directory, 'bob.json');
      await writeFile(path, JSON.stringify({ ...(await draft()), metadata: { name: 'bob' } }));
      await kubectl('create', '-f', path);
      assert.equal(
        await kubectl('certificate', 'deny', 'bob'),
        'certificatesigningrequest.certificates.k8s.io/bob denied\n',
      );
      assert.match(await kubectl('get', 'csr', 'bob', '--no-headers'), / Denied\n$/);
      await assert.rejects(kubectl('certificate', 'approve', 'bob'), /already Denied/);
      await assert.rejects(kubectl('certificate', 'approve', 'nobody'), /"nobody" not found/);
    });
  });
}

describe('a request for a certificate', () => {
  let server: TestServer;
  const approver = { name: 'approver', groups: [] };
  const signer = { name: 'signer', groups: [] };
  /** Rules as a cluster may have them: verbs on requests, and separate verbs on signers. */
  const rules: Authorizer = (access) =>
    access.type === 'resource' &&
    access.group === 'certificates.k8s.io' &&
    (access.resource.startsWith('certificatesigningrequests')
      ? access.user.name === 'approver' || access.user.name === 'signer'
      : access.resource === 'signers' &&
        ((access.user.name === 'approver' && access.verb === 'approve' && access.name === 'example.com/*') ||
          (access.user.name === 'signer' && access.verb === 'sign' && access.name === clientSigner)));

  before(async () => {
    server = await startTestServer({ authorize: rules });
  });
  after(() => server.stop());

  const refusals: readonly (readonly [string, () => Promise<object>, ...string[]])[] = [
    [
      'no PEM',
      () => draft({ request: 'eA==' }),
      'spec.request: Invalid value: "<request data>": PEM block type must be CERTIFICATE REQUEST',
    ],
    [
      'an empty PEM block',
      () => draft({ request: pem('AAAA') }),
      'spec.request: Invalid value: "<request data>": the PEM block does not hold a readable PKCS #10 request',
    ],
    [
      'a certificate',
      () => draft({ request: pem('AAAA', 'CERTIFICATE') }),
      'spec.request: Invalid value: "<request data>": PEM block type must be CERTIFICATE REQUEST',
    ],
    [
      'a request that was changed after it was signed',
      async () => draft({ request: await tampered() }),
      'spec.request: Invalid value: "<request data>": the signature was not made with the key in the request',
    ],
    [
      'a weak key',
      () => draft({ request: openssl('-newkey', 'rsa:1024', '-subj', '/CN=a') }),
      'spec.request: Invalid value: "<request data>": an RSA key must have at least 2048 bits, not 1024',
    ],
    [
      'two common names',
      () => draft({ request: openssl(...ec, '-subj', '/CN=a/CN=system:node:b') }),
      'spec.request: Invalid value: "<request data>": the subject must not have more than one common name',
    ],
    [
      'an alternative name of another type',
      () => draft({ request: openssl(...ec, '-subj', '/CN=a', '-addext', 'subjectAltName=RID:1.2.3') }),
      'spec.request: Invalid value: "<request data>": a subjectAltName of type registeredID is not supported',
    ],
    ['no signer', () => draft({ signerName: '' }), 'spec.signerName: Required value'],
    [
      'the legacy signer',
      () => draft({ signerName: 'kubernetes.io/legacy-unknown' }),
      'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
    [
      'a signer without a domain',
      () => draft({ signerName: 'me' }),
      'spec.signerName: Invalid value: "me": must be a fully qualified domain and path',
    ],
    [
      'a signer with an incomplete domain',
      () => draft({ signerName: 'a/b' }),
      'spec.signerName: Invalid value: "a": should be a domain with at least two segments',
    ],
    ['no usages', () => draft({ usages: [] }), 'spec.usages: Required value'],
    [
      'unknown and repeated usages',
      () => draft({ usages: ['any', 'any', 'fun'] }),
      'spec.usages[1]: Duplicate value: "any"',
      'spec.usages[2]: Unsupported value: "fun"',
    ],
    [
      'too short a validity',
      () => draft({ expirationSeconds: 599 }),
      'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
    ],
  ];
  for (const [what, make, ...causes] of refusals) {
    it(`with ${what} is refused`, async () => {
      const answer = await server.call('POST', collection, await make());
      assert.equal(answer.status, 422, answer.text);
      const found = answer
        .json<Status>()
        .details?.causes?.map(({ field, message }) => `${field}: ${message}`);
      assert.deepEqual(
        found?.map((line, index) => line.slice(0, causes[index]?.length)),
        causes,
      );
    });
  }

  it('that would make its owner an administrator is refused', async () => {
    const answer = await server.call(
      'POST',
      collection,
      await draft({}, { commonName: 'a', organizations: ['system:masters'] }),
    );
    assert.equal(answer.status, 403);
    assert.match(
      answer.text,
      /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed/,
    );
  });

  it('has the authenticated user, is immutable, and is decided only once', async () => {
    const first = await server.call('POST', collection, {
      ...(await draft({ username: 'root' })),
      status: { certificate: 'eA==' },
    });
    assert.equal(first.status, 201, first.text);
    const made = first.json<CertificateSigningRequest>();
    assert.equal(made.spec.username, 'system:admin');
    assert.deepEqual(made.status, {});
    const path = `${collection}/alice`;
    const put = (at: string, object: object) =>
      server.call('PUT', at, { ...object, metadata: { name: 'alice' } });
    const changed = await put(path, {
      ...made,
      spec: { ...made.spec, usages: ['server auth'], username: 'root' },
    });
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.json<CertificateSigningRequest>().spec, made.spec);

    const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'yes' };
    const decided = (over: object) => ({ ...made, status: { conditions: [{ ...condition, ...over }] } });
    const expectInvalid = async (at: string, object: object, message: RegExp) => {
      const answer = await put(at, object);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.text, message);
    };
    await expectInvalid(
      `${path}/status`,
      decided({}),
      /updates may not add a condition of type \\"Approved\\"/,
    );
    await expectInvalid(`${path}/approval`, decided({ status: 'False' }), /Unsupported value: \\"False\\"/);
    const both = { ...made, status: { conditions: [condition, { ...condition, type: 'Denied' }] } };
    await expectInvalid(`${path}/approval`, both, /Approved and Denied conditions are mutually exclusive/);

    const approval = await put(`${path}/approval`, {
      ...decided({}),
      status: { certificate: 'eA==', conditions: [condition] },
    });
    assert.equal(approval.status, 200, approval.text);
    const { status } = approval.json<CertificateSigningRequest>();
    assert.equal(status?.certificate, undefined);
    assert.match(status?.conditions?.[0]?.lastUpdateTime ?? '', /^2026-01-01T/);
    await expectInvalid(
      `${path}/approval`,
      { ...made, status: {} },
      /updates may not remove a condition of type \\"Approved\\"/,
    );
    await expectInvalid(`${path}/status`, decided({ reason: 'Other' }), /updates may not modify a condition/);

    const signed = { ...approval.json<CertificateSigningRequest>() };
    const withCertificate = (text: string) => ({ ...signed, status: { ...status, certificate: text } });
    assert.equal((await put(`${path}/status`, withCertificate('eA=='))).status, 200);
    await expectInvalid(
      `${path}/status`,
      withCertificate('eQ=='),
      /updates may not modify existing certificate content/,
    );
  });

  it('is read from protobuf too', async () => {
    const message = kubernetesMessages.typeOf('certificates.v1.CertificateSigningRequest');
    assert.ok(message);
    const { metadata: _, ...object } = await draft();
    const raw = encodeMessage({ ...object, metadata: { name: 'binary' } }, message);
    const body = envelope({ apiVersion: object.apiVersion, kind: object.kind, raw });
    const headers = { 'content-type': protobufType };
    const answer = await server.call('POST', collection, body, { headers });
    assert.equal(answer.status, 201, answer.text);
    const { spec } = answer.json<CertificateSigningRequest>();
    assert.deepEqual(
      { ...spec, username: undefined, groups: undefined },
      { ...object.spec, username: undefined, groups: undefined },
    );
  });

  it('is approved and signed only by users with rights for its signer', async () => {
    const names = { theirs: 'example.com/signer', ours: clientSigner };
    for (const [name, signerName] of Object.entries(names)) {
      const object = { ...(await draft({ signerName })), metadata: { name } };
      assert.equal((await server.call('POST', collection, object)).status, 201);
    }
    const headers = { 'content-type': 'application/merge-patch+json' };
    const approval = { status: { conditions: [{ type: 'Approved', status: 'True' }] } };
    const certificate = { status: { certificate: 'eA==' } };
    for (const [user, path, body, code] of [
      [approver, 'ours/approval', approval, 403],
      [signer, 'theirs/approval', approval, 403],
      [approver, 'theirs/approval', approval, 200],
      [approver, 'theirs/status', certificate, 403],
      [signer, 'theirs/status', certificate, 403],
      [signer, 'ours/status', certificate, 200],
    ] as const) {
      const answer = await server.call('PATCH', `${collection}/${path}`, body, { user, headers });
      assert.equal(answer.status, code, `${user.name} ${path}: ${answer.text}`);
      if (code === 403)
        assert.match(answer.text, /user not permitted to (approve|sign) requests with signerName/);
    }
    const missing = await server.call('PATCH', `${collection}/nobody/approval`, approval, { headers });
    assert.equal(missing.status, 404);
  });
});

const pem = (body: string, type = 'CERTIFICATE REQUEST') =>
  Buffer.from(`-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`).toString('base64');

const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

const openssl = (...args: string[]): string =>
  execFileSync('openssl', ['req', '-new', '-nodes', '-keyout', '/dev/null', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString('base64');

async function tampered(): Promise<string> {
  const text = Buffer.from(await requestOf(alice), 'base64').toString();
  const body = Buffer.from(text.replaceAll(/-----[^-]+-----/g, ''), 'base64');
  body.write('alicf', body.indexOf('alice'));
  return pem(body.toString('base64'));
}
