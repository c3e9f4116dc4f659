import type { Node } from './node.ts';

/** Returns true for a node whose condition Ready is True. */
export const isNodeReady = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
