/** Probes in one line. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { numberAt, recordAt, textAt } from '../objects/objects.ts';
import { goList, shownAt, stringsAt } from './lines.ts';

/** Returns a probe such as `tcp-socket :80 delay=0s timeout=1s period=10s #success=1 #failure=3`. */
export function probeText(probe: JsonObject): string {
  const of = (field: string) => numberAt(probe, field);
  const attributes = [
    `delay=${of('initialDelaySeconds')}s`,
    `timeout=${of('timeoutSeconds')}s`,
    `period=${of('periodSeconds')}s`,
    `#success=${of('successThreshold')}`,
    `#failure=${of('failureThreshold')}`,
  ].join(' ');
  return `${actionText(probe)} ${attributes}`;
}

function actionText(probe: JsonObject): string {
  if (isRecord(probe.exec)) return `exec ${goList(stringsAt(probe, 'exec', 'command'))}`;
  if (isRecord(probe.httpGet)) return `http-get ${urlOf(recordAt(probe, 'httpGet'))}`;
  if (isRecord(probe.tcpSocket))
    return `tcp-socket ${textAt(probe, 'tcpSocket', 'host')}:${shownAt(probe, 'tcpSocket', 'port')}`;
  if (isRecord(probe.grpc))
    return `grpc <pod>:${shownAt(probe, 'grpc', 'port')} ${textAt(probe, 'grpc', 'service')}`;
  return 'unknown';
}

function urlOf(get: JsonObject): string {
  const host = textAt(get, 'host');
  const path = textAt(get, 'path');
  const bracketed = host.includes(':') ? `[${host}]` : host;
  const escaped = encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23');
  const slash = path === '' || path.startsWith('/') ? '' : '/';
  return `${textAt(get, 'scheme').toLowerCase()}://${bracketed}:${shownAt(get, 'port')}${slash}${escaped}`;
}
