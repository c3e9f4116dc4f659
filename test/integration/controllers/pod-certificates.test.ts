/** PodCertificateRequests in a cluster: who may sign, and how long requests stay. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type PodCertificateRequest,
  podCertificateRequestResource as requests,
} from '../../../src/api/certificates/v1/pod-certificate-request.ts';
import { clusterRoleResource } from '../../../src/api/rbac/v1/cluster-role.ts';
import { clusterRoleBindingResource } from '../../../src/api/rbac/v1/cluster-role-binding.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { isConflict, isForbidden, isInvalid } from '../../../src/apimachinery/status-error.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { newKey } from '../../../src/kubelet/environment/certificate-key.ts';
import type { KeyAndCertificate } from '../../../src/pki/x509.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import { condition, issuedStatus } from '../../fixtures/pod-certificate-signer.ts';
import { type Cluster, startCluster } from './cluster.ts';

const signer: UserInfo = { name: 'signer', groups: ['system:authenticated'] };
const stranger: UserInfo = { name: 'stranger', groups: ['system:authenticated'] };

describe('requests for certificates of pods', () => {
  let cluster: Cluster;
  let authority: KeyAndCertificate;
  before(async () => {
    cluster = await startCluster();
    authority = await testAuthority(cluster.clock.now());
    const apiGroups = ['certificates.k8s.io'];
    const rules = [
      { apiGroups, resources: ['podcertificaterequests'], verbs: ['get', 'list', 'create'] },
      { apiGroups, resources: ['podcertificaterequests/status'], verbs: ['update'] },
      { apiGroups, resources: ['signers'], resourceNames: ['a.b/c'], verbs: ['sign'] },
    ];
    const name = 'signer';
    const apiVersion = 'rbac.authorization.k8s.io/v1' as const;
    await cluster.client
      .resource(clusterRoleResource)
      .create({ apiVersion, kind: 'ClusterRole', metadata: { name }, rules });
    await cluster.client.resource(clusterRoleBindingResource).create({
      ...{ apiVersion, kind: 'ClusterRoleBinding', metadata: { name } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }],
    });
  });
  after(() => cluster.stop());

  const create = async (name: string, signerName = 'a.b/c') =>
    cluster.client.resource(requests).create({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'PodCertificateRequest',
      metadata: { name, namespace: 'default' },
      spec: {
        ...{ signerName, podName: 'web', podUID: 'p', serviceAccountName: 'sa', serviceAccountUID: 's' },
        ...{ nodeName: 'n1', nodeUID: 'n', stubPKCS10Request: (await newKey('ECDSAP256')).request },
      },
    } as Draft<PodCertificateRequest>);
  const answer = (request: PodCertificateRequest, status: object) =>
    cluster
      .clientOf(signer)
      .resource(requests)
      .updateStatus({ ...request, status });
  const issued = (request: PodCertificateRequest) =>
    issuedStatus(authority, request, { notBefore: cluster.clock.now() });

  it('are answered by a user who may sign, once', async () => {
    const made = await create('one');
    const done = await answer(made, await issued(made));
    assert.equal(done.status?.conditions?.[0]?.type, 'Issued');
    await assert.rejects(answer(done, { conditions: [condition('Denied')] }), isInvalid);
    await assert.rejects(answer(made, await issued(made)), isConflict);
  });

  it('are not answered with the certificate of another key, nor for another signer', async () => {
    const [made, foreign] = [await create('two'), await create('three', 'b.b/c')];
    const other = await issued(foreign);
    await assert.rejects(answer(made, other), /leaf certificate was not issued to the requested public key/);
    await assert.rejects(
      answer(foreign, other),
      /User "signer" is not permitted to "sign" for signer "b\.b\/c"/,
    );
    const denied = await answer(made, { conditions: [condition('Denied', 'No', 'never')] });
    assert.equal(denied.status?.certificateChain, undefined);
  });

  it('are selected by signer, pod and node', async () => {
    await create('four', 'c.b/c');
    const api = cluster.clientOf(signer).resource(requests);
    const found = async (fieldSelector: string) =>
      (await api.list({ fieldSelector })).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(await found('spec.signerName=c.b/c'), ['four']);
    assert.deepEqual(await found('spec.signerName=c.b/c,spec.podName=web,spec.nodeName=n1'), ['four']);
    assert.deepEqual(await found('spec.nodeName=n2'), []);
    await assert.rejects(found('spec.podUID=p'), /field label not supported: spec\.podUID/);
    const own = cluster.clientOf(stranger).resource(requests);
    await assert.rejects(own.list(), isForbidden);
  });

  it('are deleted after a quarter of an hour', async () => {
    await create('old');
    await cluster.pass(14 * 60_000);
    await create('young');
    await cluster.pass(2 * 60_000);
    await cluster.eventually('the old ones to be deleted', async () => {
      const names = (await cluster.list(requests)).map(({ metadata }) => metadata.name);
      return names.length === 1 && names[0] === 'young';
    });
    const refused = [...cluster.refused].filter((what) => !/^User "(stranger|signer)"/.test(what));
    assert.deepEqual(refused, []);
  });
});
