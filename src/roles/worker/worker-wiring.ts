/**
 * Wires a node's part of a process: each function gets what the functions before it have made. The node agent
 * comes last, because it serves the metrics of all other parts.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { podResource } from '../../api/core/v1/pod/pod.ts';
import { serviceResource } from '../../api/core/v1/service/service.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { replaceable } from '../../base/current.ts';
import { version } from '../../base/version.ts';
import { RequestCounts } from '../../client/request-counts.ts';
import { createClient } from '../../client/rest-client.ts';
import { createInformerFactory } from '../../client/shared-informer.ts';
import { tracedTransport } from '../../client/traced-transport.ts';
import { createEventRecorder } from '../../controller-runtime/event-recorder.ts';
import { createKubelet, type Kubelet, type KubeletOptions } from '../../kubelet/kubelet.ts';
import { readNodeFacts } from '../../kubelet/node/node-facts.ts';
import type { ReportedConditions } from '../../kubelet/node/plan/node-conditions.ts';
import { RangeFollower } from '../../network/further-ranges.ts';
import { RoutedPodNetwork } from '../../network/pod-network.ts';
import { PolicyEnforcer, policyRules } from '../../network/policies/enforcer.ts';
import { readAsset } from '../../os/assets.ts';
import { monitorRules } from '../../os/nft-monitor.ts';
import { RuleWatch } from '../../os/rule-watch.ts';
import { Announcer } from '../../service-proxy/announcing/announcer.ts';
import { createProxier } from '../../service-proxy/proxier.ts';
import { requireFreeHostPort } from '../preflight.ts';
import { createNodeDns, podDns } from './node-dns.ts';
import { nodeDoctor } from './node-doctor.ts';
import { nodeFeatures } from './node-features.ts';
import { agentLife, logRotationOf } from './node-life.ts';
import { wireWebServer } from './node-web-server.ts';
import { trustAnnotations } from './trust-annotations.ts';
import { pauseImage, type WorkerOptions, workerRuntime } from './worker-options.ts';

type Connection = ReturnType<typeof connect>;
type Services = ReturnType<typeof wireServices>;

/**
 * Makes the parts of a node; starts none of them. Rejects if the node's directory cannot be made or the
 * machine cannot be read.
 */
export async function wireWorker(options: WorkerOptions) {
  const { settings } = options;
  const dataDir = join(settings['data-dir'], 'kubelet');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const connection = connect(options);
  const facts = await readNodeFacts(dataDir, `v1.32.0-minik8s.${version()}`);
  const rules = wireRules(options, connection);
  const services = wireServices(options, connection, rules);
  const policies = wirePolicies(options, connection, { dataDir, rules });
  await policies.load();
  const registered = Promise.withResolvers<void>();
  const kubelet = wireKubelet(options, connection, services, {
    ...{ dataDir, policies, rules },
    facts,
    onRegistered: registered.resolve,
  });
  return {
    ...connection,
    ...services,
    overlay: { ...overlayOptions(options, connection), rules, furtherRanges: services.furtherRanges },
    ...{ kubelet, policies, rules },
    /** Resolves once this node's Node exists. */
    registered: registered.promise,
  };
}

/** Makes the clients of the API server: one for the agent and one for the proxy, each with its own counts. */
function connect(options: WorkerOptions) {
  const { clock, random, log, tracer, nodeName } = options;
  const transport = tracer ? tracedTransport(options.transport, 'writes') : options.transport;
  const requests = { agent: new RequestCounts(clock), proxy: new RequestCounts(clock) };
  const client = createClient(requests.agent.measure(transport), { clock, random });
  const proxyClient = createClient(requests.proxy.measure(transport), { clock, random });
  return {
    requests,
    client,
    events: createEventRecorder({ client, clock, random, log, component: 'kubelet', host: nodeName }),
    /** Informers of the agent alone; the agent starts them. */
    agentInformers: createInformerFactory({ client, clock, random, log }),
    /** Informers of the Nodes, for the proxy and the overlay. */
    nodeInformers: createInformerFactory({ client, clock, random, log }),
    /**
     * Informers of network policies and namespaces, apart from the others: an older master does not let nodes
     * read network policies.
     */
    policyInformers: createInformerFactory({ client: proxyClient, clock, random, log }),
    /** Informer of the addresses of all pods, started with the first network policy. */
    peerInformers: createInformerFactory({ client: proxyClient, clock, random, log }),
    /** Informers of the objects that all nodes read. */
    proxyInformers: createInformerFactory({ client: proxyClient, clock, random, log }),
    /** Informers of Dns objects: a master without this feature does not serve them. */
    dnsInformers: createInformerFactory({ client: proxyClient, clock, random, log }),
    /** Informers of Ingresses: a master without this feature does not let nodes read them. */
    ingressInformers: createInformerFactory({ client: proxyClient, clock, random, log }),
    /** Informers of the Leases of load balancers' addresses: an older master does not let nodes read them. */
    balancerInformers: createInformerFactory({ client: proxyClient, clock, random, log }),
    /** Informers of the Gateway API: a server may lack its definitions. */
    gatewayInformers: createInformerFactory({ client: proxyClient, clock, random, log }),
    /** Informer of ServiceCIDRs: an older master does not serve them. */
    rangeInformers: createInformerFactory({ client: proxyClient, clock, random, log }),
    proxyClient,
  };
}

/** Makes the watch over nftables rules, which records on the Node which ones another program has deleted. */
function wireRules({ clock, log, nodeName }: WorkerOptions, { events }: Connection): RuleWatch {
  const metadata = { name: nodeName, uid: nodeName } as KubeObject['metadata'];
  const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata };
  return new RuleWatch({
    ...{ monitor: monitorRules, clock, log: log.named('network') },
    onDeleted(what, message) {
      const reason = what === policyRules ? 'NetworkPolicyRulesDeleted' : 'NetworkRulesDeleted';
      events.event(node, 'Warning', reason, message);
    },
  });
}

/** Makes the service proxy, the web server and the cluster DNS. */
function wireServices(options: WorkerOptions, connection: Connection, rules: RuleWatch) {
  const { events, proxyInformers, nodeInformers } = connection;
  const { settings, clock, log, exec, nodeName, nodeIP, nodeIPv6 } = options;
  const conditions = replaceable<ReportedConditions>({});
  const furtherRanges = new RangeFollower({
    informers: connection.rangeInformers,
    serviceCIDR: settings['service-cidr'],
    clusterCIDR: settings['cluster-cidr'],
    addresses: [nodeIP, ...(options.nodeIPv6 === undefined ? [] : [options.nodeIPv6])],
    log: log.named('network'),
  });
  const proxier = createProxier({
    ...{ nodeInformers, exec, nodeName, nodeIP, nodeIPv6, clock, events, rules },
    informers: proxyInformers,
    serviceCIDR: settings['service-cidr'],
    furtherRanges,
    clusterCIDR: settings['cluster-cidr'],
    log: log.named('proxy'),
  });
  const announcer = new Announcer({
    ...{ nodeInformers, exec, nodeName, nodeIP, nodeIPv6, clock, events, rules },
    client: connection.proxyClient,
    informers: proxyInformers,
    leaseInformers: connection.balancerInformers,
    log: log.named('balancer'),
  });
  const webServer = wireWebServer(options, connection, conditions);
  const { hostAddresses } = webServer;
  const dns = createNodeDns({ ...options, rules }, settings, proxyInformers, {
    hostAddresses,
    furtherRanges,
  });
  return { conditions, proxier, announcer, webServer, dns, furtherRanges };
}

function wirePolicies(
  options: WorkerOptions,
  connection: Connection,
  { dataDir, rules }: { readonly dataDir: string; readonly rules: RuleWatch },
): PolicyEnforcer {
  const { clock, log, exec, nodeName } = options;
  const { events, agentInformers, policyInformers, peerInformers } = connection;
  return new PolicyEnforcer({
    ...{ exec, events, clock, nodeName, peerInformers, rules },
    informers: policyInformers,
    ownPods: agentInformers.informerFor(podResource, { fieldSelector: `spec.nodeName=${nodeName}` }),
    log: log.named('policies'),
    path: join(dataDir, 'network-policies.json'),
  });
}

function overlayOptions(options: WorkerOptions, { client, nodeInformers }: Connection) {
  const { settings, clock, log, exec, nodeName, nodeIP, nodeIPv6 } = options;
  return {
    ...{ client, exec, clock, nodeName, nodeIP, nodeIPv6 },
    informers: nodeInformers,
    log: log.named('overlay'),
    clusterCIDR: settings['cluster-cidr'],
    serviceCIDR: settings['service-cidr'],
    mode: settings.overlay,
  };
}

function wireKubelet(
  options: WorkerOptions,
  { client, events, agentInformers, proxyInformers, requests }: Connection,
  { conditions, proxier, announcer, dns }: Services,
  {
    policies,
    rules,
    ...own
  }: Pick<KubeletOptions, 'dataDir' | 'facts' | 'onRegistered'> & {
    readonly policies: PolicyEnforcer;
    readonly rules: RuleWatch;
  },
): Kubelet {
  const { settings, clock, random, log, loopMeter, exec, nodeName, nodeIP, nodeIPv6 } = options;
  return createKubelet({
    ...own,
    ...{ client, events, conditions, exec, clock, random, loopMeter, nodeName, nodeIP, nodeIPv6, policies },
    informers: agentInformers,
    services: proxyInformers.informerFor(serviceResource),
    runtime: workerRuntime(settings, options, {
      logRotation: logRotationOf(settings),
      maxPids: settings['pod-max-pids'],
    }),
    network: podNetwork(options, policies, rules),
    log: log.named('kubelet'),
    ...programParts(options),
    ...nodeSettings(options),
    requireFreePort: requireFreeHostPort,
    counted: () => [...requests.agent.families(), ...loopMeter.families()],
    pages: {
      proxy: () => [...proxier.families(), ...requests.proxy.families()],
      dns: () => dns.families(),
    },
    serviceConnections: () => proxier.connections(),
    doctor: nodeDoctor(options, client, {
      conditions,
      heldPorts: () => proxier.heldPorts(),
      rivals: () => announcer.rivals(),
      deletedRules: () => rules.deletions(),
    }),
    server: {
      hosts: options.listenAddresses,
      port: settings['kubelet-port'],
      tls: { identity: options.serving, clientCA: options.authority },
    },
  });
}

const podNetwork = (
  { settings, exec, log, nodeIP, nodeIPv6 }: WorkerOptions,
  policies: PolicyEnforcer,
  rules: RuleWatch,
) =>
  new RoutedPodNetwork({
    rules,
    onRelease: (ip) => policies.release(ip),
    exec,
    log: log.named('network'),
    nodeIP: undefined,
    nodeIPv6,
    clusterCIDR: settings['cluster-cidr'],
    overlay: { mode: settings.overlay, nodeIP },
  });

/** Returns the agent's options from this program: the image of pause containers, and the features. */
const programParts = ({ settings, transport, identity, authority }: WorkerOptions) => ({
  pauseImage: pauseImage(),
  readPauseArchive: async () => readAsset('pause.tar'),
  features: nodeFeatures(settings, transport, { identity, authority }),
});

/** Returns the agent's settings, and the options of the worker that are passed on as they are. */
const nodeSettings = ({ settings, ...options }: WorkerOptions) => ({
  ...podDns(settings),
  maxPods: settings['max-pods'],
  ...(settings['pod-manifest-path'] !== undefined && { podManifestPath: settings['pod-manifest-path'] }),
  ...agentLife(settings),
  ...(settings['system-reserved'] && { systemReserved: settings['system-reserved'] }),
  sandboxPool: settings['sandbox-pool'],
  ...(options.tracer && { tracer: options.tracer }),
  ...(options.onReady && { onReady: options.onReady }),
  ...(options.onRemoved && { onRemoved: options.onRemoved }),
  ...(options.labels && { labels: options.labels }),
  ...(options.taints && { taints: [...options.taints] }),
  ...(options.podCIDR && { podCIDR: options.podCIDR }),
  identity: options.identity,
  annotations: trustAnnotations({
    ...{ trusted: options.authority, client: options.identity, serving: options.serving },
  }),
});
