/** Kubernetes' own conformance tests of DNS, step by step. For the list see docs/conformance-network.md. */
import assert from 'node:assert/strict';
import type { V1PodSpec } from '@kubernetes/client-node';
import { waitFor } from '../harness/wait-for.ts';
import { addressOf, type Line, line, type TestNamespace } from './test-namespace.ts';

const domain = 'cluster.local';
const hostname = 'dns-querier-1';
const subdomain = 'dns-test-service';
const httpPort = { name: 'http', port: 80, protocol: 'TCP' };

/** Asserts that each name resolves by UDP and by TCP, with the search list applied. */
async function resolves(space: TestNamespace, pod: string, names: readonly string[]) {
  const questions = names.flatMap((name) => {
    const type = name.startsWith('_') ? 'SRV' : name.endsWith('.arpa.') ? 'PTR' : 'A';
    return ['+notcp', '+tcp'].map((transport) => ({ name, type, transport }));
  });
  const script = questions
    .map(
      ({ name, type, transport }, index) =>
        `dig ${transport} +tries=1 +noall +answer +search ${name} ${type} | sed 's/^/${index} /'`,
    )
    .join('; ');
  await waitFor(`answers in ${pod}`, async () => {
    const answers = (await space.run(pod, ['sh', '-c', script])).split('\n');
    const open = questions.filter(
      ({ type }, index) => !answers.some((line) => new RegExp(`^${index} .*\\sIN\\s+${type}\\s`).test(line)),
    );
    if (open.length > 0) throw new Error(`without an answer: ${JSON.stringify(open)}`);
    return true;
  });
}

async function inHosts(space: TestNamespace, pod: string, names: readonly string[]) {
  for (const name of names) {
    const { status } = await space.core.readNamespacedPod({ namespace: space.name, name: pod });
    assert.match(await space.run(pod, ['getent', 'ahostsv4', name]), new RegExp(`^${status?.podIP} `));
  }
}

/** Creates a headless and a usual Service that select the pod, and the pod. */
async function services(space: TestNamespace) {
  const selector = { 'dns-test': 'true' };
  await space.service(subdomain, { clusterIP: 'None', selector, ports: [httpPort] });
  const { spec } = await space.service('test-service-2', { selector, ports: [httpPort] });
  await space.pod('dns-test', { labels: selector, spec: { hostname, subdomain } });
  return `${spec?.clusterIP?.split('.').reverse().join('.')}.in-addr.arpa.`;
}

export const dnsLines: readonly Line[] = [
  line('DNS should provide DNS for the cluster', async (space) => {
    await space.pod('dns-test', { spec: { hostname, subdomain } });
    await resolves(space, 'dns-test', [`kubernetes.default.svc.${domain}`]);
    // Partial names of a Service that every cluster has; upstream does not test them in every cluster.
    await resolves(space, 'dns-test', ['kubernetes.default', 'kubernetes.default.svc']);
  }),

  line('DNS should provide /etc/hosts entries for the cluster', async (space) => {
    await space.pod('dns-test', { spec: { hostname, subdomain } });
    await inHosts(space, 'dns-test', [`${hostname}.${subdomain}.${space.name}.svc.${domain}`, hostname]);
  }),

  line('DNS should provide DNS for services', async (space) => {
    const pointer = await services(space);
    const [headless, regular] = [subdomain, 'test-service-2'].map(
      (name) => `${name}.${space.name}.svc.${domain}`,
    );
    await resolves(space, 'dns-test', [
      ...[`${headless}`, `_http._tcp.${headless}`, `_http._tcp.${regular}`, pointer],
    ]);
  }),

  line('DNS should resolve DNS of partial qualified names for services', async (space) => {
    const pointer = await services(space);
    const inNamespace = `${subdomain}.${space.name}`;
    await resolves(space, 'dns-test', [
      ...[subdomain, inNamespace, `${inNamespace}.svc`, `_http._tcp.${inNamespace}.svc`],
      ...[`_http._tcp.test-service-2.${space.name}.svc`, pointer],
    ]);
  }),

  line('DNS should provide DNS for pods for Hostname', async (space) => {
    const selector = { 'dns-test-hostname-attribute': 'true' };
    const name = 'dns-test-service-2';
    await space.service(name, { clusterIP: 'None', selector, ports: [httpPort] });
    const spec = { hostname: 'dns-querier-2', subdomain: name };
    await space.pod('dns-test', { labels: selector, spec });
    const full = `dns-querier-2.${name}.${space.name}.svc.${domain}`;
    await inHosts(space, 'dns-test', [full, 'dns-querier-2']);
    assert.equal(await space.run('dns-test', ['hostname']), 'dns-querier-2');
  }),

  line('DNS should provide DNS for pods for Subdomain', async (space) => {
    const selector = { 'dns-test-hostname-attribute': 'true' };
    const name = 'dns-test-service-2';
    await space.service(name, { clusterIP: 'None', selector, ports: [httpPort] });
    const spec = { hostname: 'dns-querier-2', subdomain: name };
    const pod = await space.pod('dns-test', { labels: selector, spec });
    const below = `${name}.${space.name}.svc.${domain}`;
    await resolves(space, 'dns-test', [`dns-querier-2.${below}`, below]);
    const found = await space.run('dns-test', ['dig', '+short', `dns-querier-2.${below}`, 'A']);
    assert.equal(found, addressOf(pod));
  }),

  line('DNS should provide DNS for ExternalName services', async (space) => {
    const name = 'dns-test-service-3';
    const full = `${name}.${space.name}.svc.${domain}`;
    await space.service(name, { type: 'ExternalName', externalName: 'foo.example.com' });
    const says = (pod: string, type: string, expected: string | undefined) =>
      waitFor(`${type} ${expected} of ${full} in ${pod}`, async () => {
        const found = await space.run(pod, ['dig', '+short', '+tries=1', full, type]);
        if (found !== expected) throw new Error(found);
        return true;
      });
    await space.pod('first');
    await says('first', 'CNAME', 'foo.example.com.');
    await space.updateService(name, (spec) => {
      spec.externalName = 'bar.example.com';
    });
    await space.pod('second');
    await says('second', 'CNAME', 'bar.example.com.');
    const { spec } = await space.updateService(name, (changed) => {
      changed.type = 'ClusterIP';
      changed.ports = [httpPort];
    });
    await space.pod('third');
    assert.match(spec?.clusterIP ?? '', /^10\.96\./);
    await says('third', 'A', spec?.clusterIP);
    // Pods that existed before resolve the name, too.
    await says('first', 'A', spec?.clusterIP);
  }),

  line('DNS should support configurable pod DNS nameservers', async (space) => {
    const dnsConfig = { nameservers: ['1.1.1.1'], searches: ['resolv.conf.local'] };
    await space.pod('test-dns-nameservers', { spec: { dnsPolicy: 'None', dnsConfig } });
    assert.equal(
      await space.run('test-dns-nameservers', ['cat', '/etc/resolv.conf']),
      'search resolv.conf.local\nnameserver 1.1.1.1',
    );
  }),

  line('pods with hostAliases find them, in the network of their node too', async (space) => {
    const hostAliases = [{ ip: '192.0.2.7', hostnames: ['db', 'db.example'] }];
    const hosts = async (name: string, spec: Partial<V1PodSpec>) => {
      await space.pod(name, { spec: { hostAliases, ...spec } });
      assert.match(await space.run(name, ['getent', 'ahostsv4', 'db.example']), /^192\.0\.2\.7 /);
      return space.run(name, ['cat', '/etc/hosts']);
    };
    const aliases = '\n\n# Entries added by HostAliases.\n192.0.2.7\tdb\tdb.example';
    const own = await hosts('own', {});
    assert.ok(own.startsWith('# Kubernetes-managed hosts file.\n') && own.endsWith(`\town${aliases}`), own);
    const shared = await hosts('shared', { hostNetwork: true });
    const node = await space.cluster.hosts.at(0).run('cat', '/etc/hosts');
    assert.equal(shared, `# Kubernetes-managed hosts file (host network).\n${node}${aliases}`);
  }),

  line(
    'setHostnameAsFQDN makes the full name the host name if the kernel accepts its length',
    async (space) => {
      const named = (name: string) => ({ hostname: name, subdomain: 'sub', setHostnameAsFQDN: true });
      await space.pod('full', { spec: named('full') });
      const rest = `.sub.${space.name}.svc.${domain}`;
      for (const command of [['hostname'], ['cat', '/etc/hostname'], ['sh', '-c', 'echo $HOSTNAME']]) {
        assert.equal(await space.run('full', command), `full${rest}`);
      }
      const longest = 'a'.repeat(64 - rest.length);
      await space.pod('longest', { spec: named(longest) });
      assert.equal(await space.run('longest', ['hostname']), longest + rest);
      await space.createPod('too-long', { spec: named(`${longest}a`) });
      await waitFor('the event', async () => {
        const { items } = await space.core.listNamespacedEvent({ namespace: space.name });
        return items.some(
          ({ reason, message }) =>
            reason === 'FailedCreatePodSandBox' && /is too long \(64 char.* 65 char/.test(message ?? ''),
        );
      });
      const { status } = await space.core.readNamespacedPod({ namespace: space.name, name: 'too-long' });
      assert.equal(status?.phase, 'Pending');
    },
  ),
];
