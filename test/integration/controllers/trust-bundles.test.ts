/** ClusterTrustBundles in a cluster: who may read and write them, and the bundle of the API server itself. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  clusterTrustBundleResource as bundles,
  type ClusterTrustBundle,
} from '../../../src/api/certificates/v1/cluster-trust-bundle.ts';
import { clusterRoleResource } from '../../../src/api/rbac/v1/cluster-role.ts';
import { clusterRoleBindingResource } from '../../../src/api/rbac/v1/cluster-role-binding.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { isForbidden, isInvalid } from '../../../src/apimachinery/status-error.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import { type Cluster, startCluster } from './cluster.ts';

const bundle = (name: string, trustBundle: string, signerName?: string) =>
  ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { name },
    spec: { trustBundle, ...(signerName !== undefined && { signerName }) },
  }) as Draft<ClusterTrustBundle>;

const account: UserInfo = {
  name: 'system:serviceaccount:default:default',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
};
const signer: UserInfo = { name: 'signer', groups: ['system:authenticated'] };

describe('trust bundles', () => {
  let cluster: Cluster;
  let authority: string;
  let other: string;
  before(async () => {
    const pair = await testAuthority();
    authority = pair.certificate;
    other = (await testAuthority()).certificate;
    cluster = await startCluster({ authority: pair });
    const rules = [
      { apiGroups: ['certificates.k8s.io'], resources: ['clustertrustbundles'], verbs: ['create', 'update'] },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['a.b/*'],
        verbs: ['attest'],
      },
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

  const ofServer = async (client = cluster.client) => {
    const fieldSelector = 'spec.signerName=kubernetes.io/kube-apiserver-serving';
    return (await client.resource(bundles).list({ fieldSelector })).items;
  };

  it('of the API server has its authority, can be read by every account, and is restored', async () => {
    const isPublished = async () => (await ofServer()).find(({ spec }) => spec.trustBundle === authority);
    const published = await cluster.eventually('the bundle', isPublished);
    assert.deepEqual(
      (await ofServer(cluster.clientOf(account))).map(({ metadata }) => metadata.name),
      [published.metadata.name],
    );
    await cluster.client.resource(bundles).delete(published.metadata.name);
    const again = await cluster.eventually('the bundle again', isPublished);
    assert.notEqual(again.metadata.uid, published.metadata.uid);
  });

  it('of a signer are written by users who may attest for it', async () => {
    const mine = cluster.clientOf(signer).resource(bundles);
    const made = await mine.create(bundle('a.b:c:one', authority, 'a.b/c'));
    const changed = await mine.update({ ...made, spec: { ...made.spec, trustBundle: other } });
    assert.equal(changed.spec.trustBundle, other);
    await assert.rejects(mine.create(bundle('b.b:c:one', authority, 'b.b/c')), isForbidden);
    await assert.rejects(
      cluster.clientOf(account).resource(bundles).create(bundle('x', authority)),
      isForbidden,
    );
  });

  it('can be read by every node', async () => {
    await cluster.addNode('n1');
    const user = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
    const { items } = await cluster.clientOf(user).resource(bundles).list();
    assert.ok(items.length > 0);
  });

  it('without certificates are rejected, also when they are changed', async () => {
    const api = cluster.client.resource(bundles);
    await assert.rejects(api.create(bundle('plain', 'none')), isInvalid);
    const made = await api.create(bundle('plain', authority));
    await assert.rejects(api.update({ ...made, spec: { trustBundle: '' } }), isInvalid);
    const patched = await api.patch('plain', '', 'merge', { spec: { trustBundle: other } });
    assert.equal(patched.spec.trustBundle, other);
  });
});
