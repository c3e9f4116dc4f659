/** Commands that forward the ports of a Pod or a Service to the user's machine. Pure. */
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../../../apimachinery/fields.ts';

export interface PortForward {
  /** The port and its name, such as `8080 (http)`. */
  readonly title: string;
  readonly command: string;
  /**
   * Address that the browser can open while the command runs; undefined if the port is not known as HTTP. It
   * has another host name than the dashboard of `ctl dashboard`, so the program of the pod gets no cookie.
   */
  readonly address: string | undefined;
}

/** Ports that programs with web pages use, unless the name of the port is that of another protocol. */
const webPorts = new Set([
  80, 443, 3000, 4200, 5000, 5601, 8000, 8008, 8080, 8081, 8443, 8888, 9000, 9090, 9093,
]);
const tlsPorts = new Set([443, 8443]);
/** Ports below this one need the rights of root; a forwarded port has this number more. */
const firstFree = 1024;
const added = 8000;

/** Returns a command for each TCP port of a Service, or of the containers of a Pod. */
export function portForwards(kind: 'Pod' | 'Service', object: JsonObject): readonly PortForward[] {
  const { namespace, name } = metadataOf(object);
  const target = `--namespace ${namespace} ${kind === 'Pod' ? 'pod' : 'service'}/${name}`;
  const ports =
    kind === 'Service'
      ? recordsAt(object, 'spec', 'ports')
      : recordsAt(object, 'spec', 'containers').flatMap((container) => recordsAt(container, 'ports'));
  const byNumber = new Map<number, JsonObject>();
  for (const port of ports) {
    const number = Number(kind === 'Service' ? port.port : port.containerPort);
    const isTcp = (textAt(port, 'protocol') || 'TCP') === 'TCP';
    if (isPort(number) && isTcp && !byNumber.has(number)) byNumber.set(number, port);
  }
  return [...byNumber].map(([number, port]) => forward(target, number, port));
}

function forward(target: string, number: number, port: JsonObject): PortForward {
  const [name, scheme] = [textAt(port, 'name'), schemeOf(port, number)];
  const local = number < firstFree ? number + added : number;
  return {
    title: name === '' ? String(number) : `${number} (${name})`,
    command: `minik8s ctl port-forward ${target} ${local}:${number}`,
    address: scheme && `${scheme}://localhost:${local}/`,
  };
}

const isPort = (number: number) => Number.isInteger(number) && number > 0 && number < 65_536;

/** Returns the scheme of a port whose protocol, name or number is that of HTTP; else undefined. */
function schemeOf(port: JsonObject, number: number): 'http' | 'https' | undefined {
  const words = textAt(port, 'appProtocol') || textAt(port, 'name');
  if (/(^|[^a-z])(https|wss)/.test(words)) return 'https';
  if (/(^|[^a-z])(http|web|ws|ui)([^a-z]|$)/.test(words)) return 'http';
  if (words !== '' || !webPorts.has(number)) return undefined;
  return tlsPorts.has(number) ? 'https' : 'http';
}
