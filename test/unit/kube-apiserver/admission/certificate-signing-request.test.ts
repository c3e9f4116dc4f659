/**
 * Users who may request a certificate of a signer, and who may approve it: an error here would make any
 * user an administrator.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type CertificateSigningRequest,
  certificateSigningRequestResource as resource,
} from '../../../../src/api/certificates/v1/certificate-signing-request.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import type { Admission } from '../../../../src/apiserver/admission/plugin.ts';
import type { AccessRequest } from '../../../../src/apiserver/authorization/authorizer.ts';
import type { UserInfo } from '../../../../src/apiserver/request/user.ts';
import { rfc3339 } from '../../../../src/base/clock.ts';
import { certificateSigningRequests } from '../../../../src/kube-apiserver/admission/certificate-signing-request.ts';
import type { KubeContext } from '../../../../src/kube-apiserver/context.ts';

const client = 'kubernetes.io/kube-apiserver-client';
const kubeletClient = 'kubernetes.io/kube-apiserver-client-kubelet';
const serving = 'kubernetes.io/kubelet-serving';
const now = Date.UTC(2026, 0, 1);

const alice: UserInfo = { name: 'alice', groups: ['developers'] };
const joining: UserInfo = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
const n1: UserInfo = { name: 'system:node:n1', groups: ['system:nodes'] };

type Status = NonNullable<CertificateSigningRequest['status']>;
/** The field `request` contains the content as JSON in these tests. */
const csr = (signerName: string, content: object = {}, status?: Status) =>
  ({
    ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: 'x' } },
    spec: {
      signerName,
      request: Buffer.from(JSON.stringify({ commonName: '', organizations: [], ...content })).toString(
        'base64',
      ),
      usages: ['client auth'],
    },
    ...(status && { status }),
  }) as unknown as CertificateSigningRequest;

const asked: AccessRequest[] = [];
const serverThat = (allows: (access: Extract<AccessRequest, { type: 'resource' }>) => boolean) =>
  ({
    clock: { now: () => now },
    readCertificateRequest: async (pem: string) => JSON.parse(pem),
    authorize(access: AccessRequest) {
      asked.push(access);
      return { allowed: access.type === 'resource' && allows(access), reason: '' };
    },
  }) as unknown as KubeContext;

async function admit(over: Partial<Admission>, allows: Parameters<typeof serverThat>[0] = () => false) {
  asked.length = 0;
  const admission: Admission = {
    ...{ operation: over.old ? 'update' : 'create', definition: resource as unknown as ResourceDefinition },
    ...{ namespace: '', name: 'x', subresource: '', user: alice },
    ...over,
  };
  const { object, old } = admission as {
    object?: CertificateSigningRequest;
    old?: CertificateSigningRequest;
  };
  const context = { user: admission.user, now: rfc3339(now), subresource: admission.subresource };
  const plugin = certificateSigningRequests(serverThat(allows));
  await plugin.mutate?.(admission);
  if (object && old) resource.strategy.prepareForStatusUpdate?.(object, old, context);
  else if (object) resource.strategy.prepareForCreate?.(object, context);
  await plugin.validate?.(admission);
}
const forbidden = (message: RegExp) => (error: unknown) =>
  error instanceof StatusError && error.status.code === 403 && message.test(error.message);

describe('a new request', () => {
  test('has the authenticated user, not the user in its body', async () => {
    const known = { ...alice, uid: '7', extra: { scopes: ['a'] } };
    const object = csr('example.com/x');
    Object.assign(object.spec, {
      username: 'root',
      groups: ['system:masters'],
      uid: '0',
      extra: { a: ['b'] },
    });
    await admit({ object, user: known });
    const { username, groups, uid, extra } = object.spec;
    assert.deepEqual({ name: username, groups, uid, extra }, known);
    extra?.scopes?.push('b');
    groups?.push('system:masters');
    assert.deepEqual(known, { ...alice, uid: '7', extra: { scopes: ['a'] } });
  });

  test('omits the fields of a user with only a name', async () => {
    const object = csr('example.com/x');
    await admit({ object });
    assert.deepEqual(
      Object.keys(object.spec).sort(),
      ['groups', 'request', 'signerName', 'username', 'usages'].sort(),
    );
  });

  const masters = { commonName: 'alice', organizations: ['developers', 'system:masters'] };
  const node = (name: string) => ({ commonName: `system:node:${name}`, organizations: ['system:nodes'] });
  for (const [title, user, signer, content, refusal] of [
    ['a user', alice, client, { commonName: 'alice' }, undefined],
    ['a member of system:masters as a client', alice, client, masters, /system:masters group is not allowed/],
    ['a member of system:masters for another signer', alice, 'example.com/x', masters, undefined],
    ['a joining machine as a node', joining, kubeletClient, node('n1'), undefined],
    ['a joining machine as a client', joining, client, node('n1'), /only request certificates of signer/],
    ['a joining machine as a server', joining, serving, node('n1'), /only request certificates of signer/],
    ['a node as itself', n1, kubeletClient, node('n1'), undefined],
    ['a node as a server', n1, serving, node('n1'), undefined],
    ['a node as a client of another signer', n1, client, node('n1'), /a node may only request/],
    ['a node as another node', n1, kubeletClient, node('n2'), /CN=system:node:n1$/],
    ['a node as a server of another node', n1, serving, node('n2'), /CN=system:node:n1$/],
    ['a node with an empty name', n1, kubeletClient, { commonName: '' }, /CN=system:node:n1$/],
  ] as const)
    test(`for ${title} is ${refusal ? 'rejected' : 'accepted'}`, async () => {
      const admitted = admit({ object: csr(signer, content), user });
      if (refusal) await assert.rejects(admitted, forbidden(refusal));
      else await admitted;
    });

  test('that cannot be parsed is rejected by its field, without its content', async () => {
    const object = csr(client);
    object.spec.request = Buffer.from('secret').toString('base64');
    await assert.rejects(admit({ object }), (error) => {
      assert.ok(error instanceof StatusError && error.status.code === 422);
      const [cause] = error.status.details?.causes ?? [];
      assert.equal(cause?.field, 'spec.request');
      assert.match(cause?.message ?? '', /^Invalid value: "<request data>": /);
      return true;
    });
  });

  test('of a joining machine may have at most 16 KiB; requests of other users may be larger', async () => {
    const object = csr(kubeletClient);
    const rest = Buffer.byteLength(JSON.stringify(object));
    const sized = (bytes: number) => ({
      ...structuredClone(object),
      metadata: {
        ...object.metadata,
        name: `x${'€'.repeat(Math.floor((bytes - rest) / 3))}${'y'.repeat((bytes - rest) % 3)}`,
      },
    });
    assert.equal(Buffer.byteLength(JSON.stringify(sized(16 * 1024))), 16 * 1024);
    await admit({ object: sized(16 * 1024), user: joining });
    await assert.rejects(
      admit({ object: sized(16 * 1024 + 1), user: joining }),
      forbidden(/it has 16385 bytes; the request of a joining machine may have at most 16384/),
    );
    await admit({ object: sized(17 * 1024), user: alice });
  });
});

describe('a decision', () => {
  const old = csr(client, {}, { certificate: 'old' });
  const approved = [{ type: 'Approved', status: 'True' }] as Status['conditions'];
  const next = (status?: Status) => csr(client, {}, status);
  const update = (
    subresource: string,
    object: CertificateSigningRequest,
    allows?: Parameters<typeof admit>[1],
  ) => admit({ old: structuredClone(old), object, subresource }, allows);

  test('is made by users who may approve for the signer, or for its whole domain', async () => {
    const why =
      /alice|user not permitted to approve requests with signerName "kubernetes.io\/kube-apiserver-client"/;
    await assert.rejects(update('approval', next({ conditions: approved })), forbidden(why));
    assert.deepEqual(
      asked,
      [client, 'kubernetes.io/*'].map((name) => ({
        ...{
          type: 'resource',
          user: alice,
          verb: 'approve',
          group: 'certificates.k8s.io',
          resource: 'signers',
        },
        ...{ namespace: '', name },
      })),
    );
    for (const allowed of [client, 'kubernetes.io/*'])
      await update('approval', next({ conditions: approved }), ({ name }) => name === allowed);
  });

  test('changes only the conditions of the status', async () => {
    const object = next({ conditions: approved, certificate: 'mine' });
    await update('approval', object, () => true);
    assert.equal(object.status?.certificate, 'old');
    assert.deepEqual(
      object.status?.conditions?.map(({ type }) => type),
      ['Approved'],
    );
    const none = next({ certificate: 'mine' });
    await update('approval', none, () => true);
    assert.deepEqual(none.status, { certificate: 'old' });
    const first = next({ conditions: approved });
    await admit({ old: next(), object: first, subresource: 'approval' }, () => true);
    assert.equal(first.status?.conditions?.length, 1);
  });

  test('is separate from the certificate, which only users who may sign can set', async () => {
    const sign = (certificate: string) => next({ certificate });
    await assert.rejects(
      update('status', sign('new'), ({ verb }) => verb === 'approve'),
      forbidden(/user not permitted to sign requests/),
    );
    await update('status', sign('new'), ({ verb }) => verb === 'sign');
    await assert.rejects(update('status', next()), forbidden(/sign/), 'taking it away too');
    await update('status', sign('old'));
    await update('', sign('new'));
    assert.deepEqual(asked, [], 'the rest of the server takes the status from what is stored');
  });

  test('has the time of its arrival, and keeps it', async () => {
    const [then, stamp] = ['2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z'];
    const condition = (over: object) => ({ type: 'Approved', status: 'True', ...over }) as never;
    const stamped = async (before: object[], after: object) => {
      const object = next({ conditions: [condition(after)] });
      const stored = next({ conditions: before.map(condition) });
      await admit({ old: stored, object, subresource: 'approval' }, () => true);
      const [found] = object.status?.conditions ?? [];
      return [found?.lastUpdateTime, found?.lastTransitionTime];
    };
    assert.deepEqual(await stamped([], {}), [stamp, stamp]);
    const own = { lastUpdateTime: then, lastTransitionTime: then };
    assert.deepEqual(await stamped([], own), [then, then]);
    assert.deepEqual(await stamped([{ lastTransitionTime: then }], {}), [stamp, then]);
    assert.deepEqual(await stamped([{}], {}), [stamp, stamp]);
    assert.deepEqual(await stamped([{ lastTransitionTime: then }], { status: 'False' }), [stamp, stamp]);
    assert.deepEqual(await stamped([{ type: 'Denied', lastTransitionTime: then }], {}), [stamp, stamp]);
    const twice = [{ lastTransitionTime: then }, { lastTransitionTime: '2024-01-01T00:00:00Z' }];
    assert.deepEqual(await stamped(twice, {}), [stamp, then], 'of several the first counts');
  });
});

test('objects of other kinds and deletions are not checked', async () => {
  const definition = resource as unknown as ResourceDefinition;
  const forged = csr(client, { organizations: ['system:masters'] });
  for (const other of [
    { ...definition, group: 'example.com' },
    { ...definition, plural: 'others' },
  ]) {
    await admit({ object: structuredClone(forged), definition: other });
  }
  await admit({ operation: 'delete', old: forged });
});
