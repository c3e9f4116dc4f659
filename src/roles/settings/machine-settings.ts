/** Settings of a machine, of the cluster that it joins, and of its traces. */
import { quantityValue, tryParseQuantity } from '../../apimachinery/quantity.ts';
import { tracesUrl } from '../../base/tracing/endpoint.ts';
import { share } from '../../base/tracing/share.ts';
import { isMasterName } from '../../masters/member-names.ts';
import { define } from '../../settings/definition.ts';
import { duration } from '../../settings/duration.ts';
import { address, directory, ipv6Address, oneOf, text, wholeNumber } from '../../settings/readers.ts';
import { parseLogLevels } from '../../terminal/log-levels.ts';
import { logFormats } from '../../terminal/log-line.ts';
import { authorityHash, servers, token } from './node-values.ts';

export const machineSettings = define({
  server: {
    about: 'URLs of the masters, comma-separated, such as https://192.0.2.10:6443',
    hint: 'URL,…',
    usual: 'none; a node needs one',
    read: servers,
    subject: 'Joining a cluster',
    parts: ['join'],
  },
  join: {
    about: 'URLs of the masters, comma-separated, that this master joins',
    hint: 'URL,…',
    usual: 'none; it begins a cluster',
    read: servers,
    subject: 'Joining a cluster',
    parts: ['control plane'],
  },
  'master-name': {
    about: 'name of this master among the masters of its cluster',
    hint: 'NAME',
    usual: 'the host name',
    read: masterName,
    subject: 'Joining a cluster',
    parts: ['control plane'],
  },
  token: {
    about: 'token with which this machine joins, from minik8s token create',
    read: token,
    secret: true,
    subject: 'Joining a cluster',
    parts: ['join', 'control plane'],
  },
  'ca-cert-hash': {
    about: "hash of the cluster authority's public key, from minik8s token create",
    hint: 'sha256:HEX',
    usual: 'none; a token needs one',
    read: authorityHash,
    subject: 'Joining a cluster',
    parts: ['join', 'control plane'],
  },
  'data-dir': {
    about: 'directory of all state',
    hint: 'DIRECTORY',
    default: '/var/lib/minik8s',
    read: directory,
    subject: 'This machine',
    parts: ['control plane', 'node', 'reset'],
  },
  'docker-socket': {
    about: 'socket of the Docker engine',
    hint: 'FILE',
    default: '/var/run/docker.sock',
    read: text,
    subject: 'This machine',
    parts: ['node', 'reset'],
  },
  'node-name': {
    about: 'name of this node',
    hint: 'NAME',
    usual: 'the host name',
    read: text,
    subject: 'This machine',
    parts: ['node'],
  },
  'node-ip': {
    about: 'address of this node',
    hint: 'ADDRESS',
    usual: 'the address of its default route',
    read: address,
    subject: 'This machine',
    parts: ['control plane', 'node'],
  },
  'node-ipv6': {
    about: 'IPv6 address of this node, in a cluster with ranges of IPv6',
    hint: 'ADDRESS',
    usual: 'the first lasting one of its link',
    read: ipv6Address,
    subject: 'This machine',
    parts: ['node'],
  },
  'log-level': {
    about: 'minimum level to log: debug, info, warn or error; COMPONENT=LEVEL sets it for a component',
    hint: 'LEVEL,…',
    default: 'info',
    read: parseLogLevels,
    subject: 'This machine',
    parts: ['control plane', 'node', 'slurm-client'],
  },
  'log-format': {
    about: 'log format',
    hint: 'text|json',
    default: 'text',
    read: oneOf(...logFormats),
    subject: 'This machine',
    parts: ['control plane', 'node', 'slurm-client'],
  },
  'log-file': {
    about: 'file to write the log to; it is rotated by the bounds in --log-file-max-*',
    hint: 'FILE',
    usual: 'standard error, which is not rotated',
    read: directory,
    subject: 'This machine',
    parts: ['control plane', 'node'],
  },
  'log-file-max-size': {
    about: 'maximum size of the log file, such as 16Mi; then it is rotated',
    hint: 'SIZE',
    default: '16Mi',
    read: fileSize,
    subject: 'This machine',
    parts: ['control plane', 'node'],
  },
  'log-file-max-age': {
    about: 'age of its first line at which the log file is rotated; older rotated files are removed then',
    hint: 'TIME',
    default: '168h',
    read: duration('1m', '87600h'),
    subject: 'This machine',
    parts: ['control plane', 'node'],
  },
  'log-file-max-backups': {
    about: 'maximum number of rotated log files, named FILE.1, FILE.2, …',
    hint: 'COUNT',
    default: '5',
    read: wholeNumber(0, 100),
    subject: 'This machine',
    parts: ['control plane', 'node'],
  },
  'tracing-endpoint': {
    about: 'OpenTelemetry collector that receives traces (OTLP over HTTP)',
    hint: 'URL',
    usual: 'nothing is traced',
    read: tracesUrl,
    subject: 'Tracing',
    parts: ['control plane', 'node'],
  },
  'tracing-sampling-rate': {
    about: 'share of new traces to record; a trace that a client began follows the decision of the client',
    hint: 'NUMBER',
    default: '1',
    read: share,
    subject: 'Tracing',
    parts: ['control plane', 'node'],
  },
});

function masterName(value: string): string {
  if (isMasterName(value)) return value;
  throw new Error('expected a host name in small letters, such as master-1');
}

/** Reads a size in bytes from 64Ki to 16Gi. */
function fileSize(value: string): number {
  const problem = new Error('expected a size from 64Ki to 16Gi, such as 16Mi');
  const quantity = tryParseQuantity(value);
  if (quantity === undefined) throw problem;
  const bytes = quantityValue(quantity);
  if (bytes < 64 * 2 ** 10 || bytes > 16 * 2 ** 30) throw problem;
  return bytes;
}
