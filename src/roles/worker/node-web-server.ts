/** The node's web server: one container that serves Gateways, Ingresses and Dns objects. */
import { join } from 'node:path';
import { configMapResource } from '../../api/core/v1/config-map.ts';
import { secretResource } from '../../api/core/v1/secret.ts';
import { serviceResource } from '../../api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../api/discovery/v1/endpoint-slice.ts';
import type { Replaceable } from '../../base/current.ts';
import { Wake } from '../../base/keep-doing.ts';
import { errorMessage } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { InformerFactory } from '../../client/informer.ts';
import { createInformerFactory } from '../../client/shared-informer.ts';
import { nodeLocalAddress } from '../../cluster-dns/cluster-dns.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import { dockerClient } from '../../docker/client.ts';
import { webServerName } from '../../docker/web-server-name.ts';
import { createGatewayRouting } from '../../features/gateway/agent/gateway-routing.ts';
import { gatewayServedType } from '../../features/gateway/api/gateway-served.ts';
import { createNodeRouting, removeHostNames } from '../../features/host-names/agent/node-routing.ts';
import { dnsResource } from '../../features/host-names/api/dns.ts';
import { dnsServedCondition, dnsServedType } from '../../features/host-names/api/dns-served.ts';
import { resolverOf } from '../../features/ingress/agent/external-addresses.ts';
import { createIngressRouting } from '../../features/ingress/agent/ingress-routing.ts';
import { WatchedObjects } from '../../features/ingress/agent/watched-objects.ts';
import { ingressServedType, servedCondition } from '../../features/ingress/api/ingress-served.ts';
import type { ReportedConditions } from '../../kubelet/node/plan/node-conditions.ts';
import { portProblem } from '../../os/port-problem.ts';
import { systemAuthorities } from '../../os/system-authorities.ts';
import { newAuthority } from '../../pki/credentials.ts';
import { dockerEngine } from '../../web-server/engine.ts';
import { Nginx } from '../../web-server/nginx.ts';
import { type Front, type Ports, runWebServer } from '../../web-server/web-server.ts';
import { runsFeature } from './node-features.ts';
import type { WorkerOptions } from './worker-options.ts';

interface WebServerConnection {
  readonly proxyClient: Client;
  readonly events: EventRecorder;
  readonly proxyInformers: InformerFactory;
  readonly dnsInformers: InformerFactory;
  readonly ingressInformers: InformerFactory;
  readonly gatewayInformers: InformerFactory;
}

/** Makes the web server and its fronts; starts nothing. */
export function wireWebServer(
  options: WorkerOptions,
  connection: WebServerConnection,
  conditions: Replaceable<ReportedConditions>,
) {
  const { settings, log } = options;
  const wake = new Wake();
  const report = (type: string, condition: ReportedConditions[string]) =>
    conditions.replace({ ...conditions.value, [type]: condition });
  const dns = wireDns(options, connection, wake, report);
  const ingress = wireIngress(options, connection, wake, report);
  const gateway = wireGateway(options, connection, wake, report);
  const serves = {
    dns: runsFeature(settings, 'host-names'),
    ingress: runsFeature(settings, 'ingress') && settings['serve-ingress'] === 'true',
    gateway: runsFeature(settings, 'gateway') && settings['serve-ingress'] === 'true',
  };
  const ports = portsOf(settings);
  const nginx = nginxOf(options, ports);
  return {
    hostAddresses: dns.hostAddresses,
    /** Runs until the signal aborts; the web server keeps running. The proxy's informers have synced. */
    async run(signal: AbortSignal): Promise<void> {
      const fronts: Front[] = [];
      if (serves.dns) fronts.push(dns.front);
      else
        await removeHostNames(settings['data-dir']).catch((error) =>
          log.warn('cannot remove the names of Dns objects', { error: errorMessage(error) }),
        );
      if (serves.ingress) fronts.push(ingress.front);
      if (serves.gateway) fronts.push(gateway.front);
      // Waits for the objects of all fronts: the routes of a front without its objects would be dropped.
      await Promise.all([
        ...(serves.dns ? [connection.dnsInformers.start(signal)] : []),
        ...(serves.ingress ? [connection.ingressInformers.start(signal)] : []),
        ...(serves.gateway ? [gateway.begin(signal)] : []),
      ]);
      await runWebServer({ clock: options.clock, nginx, wake, fronts, ports }, signal);
      ingress.end();
      gateway.end();
      await dns.end();
    },
  };
}

type Report = (type: string, condition: ReportedConditions[string]) => void;

function wireDns(options: WorkerOptions, connection: WebServerConnection, wake: Wake, report: Report) {
  const { settings, log, nodeName, nodeIP } = options;
  const { events, dnsInformers, proxyInformers } = connection;
  return createNodeRouting(settings, {
    ...{ log, nodeName, nodeIP, events, wake },
    dataDir: settings['data-dir'],
    clusterDomain: settings['cluster-domain'],
    services: proxyInformers.informerFor(serviceResource),
    informers: dnsInformers,
    onState: (state) => report(dnsServedType, dnsServedCondition(state)),
  });
}

function wireIngress(options: WorkerOptions, connection: WebServerConnection, wake: Wake, report: Report) {
  const { clock, random, log, nodeName, settings } = options;
  const { events, ingressInformers, dnsInformers, proxyInformers, proxyClient } = connection;
  const dnses = runsFeature(settings, 'host-names')
    ? dnsInformers.informerFor(dnsResource).lister
    : undefined;
  return createIngressRouting({
    ...{ clock, random, nodeName, events, wake },
    log: log.named('ingress'),
    client: proxyClient,
    informers: ingressInformers,
    services: proxyInformers.informerFor(serviceResource),
    slices: proxyInformers.informerFor(endpointSliceResource),
    otherHosts: () => new Set(dnses?.list().map(({ spec }) => spec.host)),
    resolve: resolverOf(nodeLocalAddress),
    onState: (state) => report(ingressServedType, servedCondition(ingressServedType, state)),
  });
}

function wireGateway(options: WorkerOptions, connection: WebServerConnection, wake: Wake, report: Report) {
  const { clock, random, nodeName } = options;
  const { events, gatewayInformers, proxyInformers, proxyClient: client } = connection;
  const log = options.log.named('gateway');
  const watching = { client, clock, random, log, onChange: () => wake.call() };
  return createGatewayRouting({
    ...{ client, clock, log, nodeName, events, wake },
    informers: gatewayInformers,
    definitions: createInformerFactory({ client, clock, random, log }),
    services: proxyInformers.informerFor(serviceResource),
    slices: proxyInformers.informerFor(endpointSliceResource),
    secrets: new WatchedObjects({ ...watching, resource: secretResource }),
    configMaps: new WatchedObjects({ ...watching, resource: configMapResource }),
    systemAuthorities,
    onState: (state) => report(gatewayServedType, servedCondition(gatewayServedType, state)),
  });
}

function portsOf(settings: WorkerOptions['settings']): Ports {
  const https = settings['https-port'];
  return { http: settings['http-port'], https: https === 0 ? undefined : https };
}

function nginxOf({ settings, clock, nodeIPv6 }: WorkerOptions, ports: Ports): Nginx {
  return new Nginx({
    engine: dockerEngine(dockerClient(settings['docker-socket'])),
    clock,
    container: webServerName(settings['data-dir']),
    image: settings['nginx-image'],
    directory: join(settings['data-dir'], 'kubelet/routing'),
    mountPoint: '/minik8s',
    temporary: '/tmp',
    ports,
    ipv6: nodeIPv6 !== undefined,
    // A socket of `::` has the port of both families.
    portProblem: (port) => portProblem('TCP', nodeIPv6 === undefined ? '0.0.0.0' : '::', port),
    makeCertificate: async () => {
      const { key, certificate } = await newAuthority(clock.now(), 'minik8s-default');
      return `${certificate.trim()}\n${key.trim()}\n`;
    },
  });
}

/** Removes the web server of a node, of any run; does nothing if there is none. */
export const removeWebServer = (dataDir: string, dockerSocket: string): Promise<void> =>
  dockerEngine(dockerClient(dockerSocket)).remove(webServerName(dataDir));
