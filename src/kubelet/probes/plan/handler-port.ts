/** Resolves the port of a handler (pkg/probe: ResolveContainerPort). */
import type { Container } from '../../../api/core/v1/types.gen.ts';

/**
 * Returns the port of that name in the container, or of that number, which may be a string. Throws an Error
 * with a message of one line for anything else.
 */
export function handlerPort(wanted: number | string, { ports = [] }: Pick<Container, 'ports'>): number {
  const named = typeof wanted === 'string' ? ports.find(({ name }) => name === wanted) : undefined;
  const port = named ? named.containerPort : numberIn(wanted);
  if (port > 0 && port < 65536) return port;
  throw new Error(`invalid port number: ${port}`);
}

function numberIn(wanted: number | string): number {
  if (typeof wanted === 'number') return wanted;
  if (/^[+-]?\d+$/.test(wanted)) return Number(wanted);
  throw new Error(`strconv.Atoi: parsing ${JSON.stringify(wanted)}: invalid syntax`);
}

/** Joins an address and a port. */
export const joinHostPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
