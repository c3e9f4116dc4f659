/**
 * /configz: the agent's settings in the form of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1).
 * Pure.
 */
import { byteQuantity } from '../../../apimachinery/quantity.ts';
import { goDuration } from '../../../base/time.ts';
import type { Threshold } from '../../node/plan/eviction-thresholds.ts';
import { leaseSeconds, type ReservedResources } from '../../node/plan/node-status.ts';
import type { LogRotation } from '../../runtime/log-rotation.ts';

export interface ConfigurationInput {
  readonly address: string;
  readonly port: number;
  readonly maxPods: number;
  readonly heartbeatMs: number;
  readonly evictionHard: readonly Threshold[];
  readonly systemReserved: ReservedResources;
  readonly logRotation: LogRotation;
  readonly clusterDNS: string | undefined;
  readonly clusterDomain: string;
  readonly resolvConf: string;
  readonly podCIDR: string | undefined;
  readonly staticPodPath: string | undefined;
}

const amount = (threshold: Threshold) =>
  'fraction' in threshold ? `${Number((threshold.fraction * 100).toFixed(6))}%` : String(threshold.amount);

export function configuration(input: ConfigurationInput): object {
  const { clusterDNS, podCIDR, staticPodPath, evictionHard, logRotation } = input;
  return {
    enableServer: true,
    enableSystemLogHandler: false,
    address: input.address,
    port: input.port,
    ...(staticPodPath !== undefined && { staticPodPath }),
    authentication: {
      x509: {},
      webhook: { enabled: true, cacheTTL: '2m0s' },
      anonymous: { enabled: false },
    },
    authorization: {
      mode: 'Webhook',
      webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' },
    },
    clusterDomain: input.clusterDomain,
    ...(clusterDNS !== undefined && { clusterDNS: [clusterDNS] }),
    nodeStatusUpdateFrequency: goDuration(input.heartbeatMs),
    nodeStatusReportFrequency: '5m0s',
    nodeLeaseDurationSeconds: leaseSeconds(input.heartbeatMs),
    maxPods: input.maxPods,
    ...(podCIDR !== undefined && { podCIDR }),
    resolvConf: input.resolvConf,
    evictionHard: Object.fromEntries(evictionHard.map((threshold) => [threshold.signal, amount(threshold)])),
    evictionPressureTransitionPeriod: '5m0s',
    systemReserved: input.systemReserved,
    containerLogMaxSize: byteQuantity(logRotation.maxBytes),
    containerLogMaxFiles: logRotation.maxFiles,
    rotateCertificates: true,
    serverTLSBootstrap: true,
    failSwapOn: false,
  };
}
