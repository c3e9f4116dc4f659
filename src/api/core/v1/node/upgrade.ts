/**
 * Upgrade of a node by its Node. An administrator writes the order into an annotation; the agent downloads
 * the executable from the API server, compares it with the digest of the order, and installs it. Only
 * executables that a master itself runs can be downloaded.
 */

/** The order, as JSON. Its writers need the verb `upgrade` on the Node. */
export const upgradeAnnotation = 'minik8s.io/upgrade';

/** Set by an agent that can carry out an order: it runs as an installed service. */
export const upgradableAnnotation = 'minik8s.io/upgradable';

/** The result of the last order, as JSON; set by the agent if the order failed. */
export const upgradeResultAnnotation = 'minik8s.io/upgrade-result';

/** Path of the API server with the executable that the master runs. */
export const executableDocument = '/minik8s/executable';

export interface UpgradeOrder {
  /** Unique for each order; an agent carries out an order once. */
  readonly id: string;
  readonly version: string;
  /** SHA-256 digest of the executable in hexadecimal digits. */
  readonly sha256: string;
  /** Timeout in seconds until the service is ready. */
  readonly timeoutSeconds: number;
}

export interface UpgradeResult {
  readonly id: string;
  /** Failed step and its error, in one line. */
  readonly error: string;
}

/** Returns the order in the text of an annotation; undefined if it is none. */
export function parseUpgradeOrder(text: string | undefined): UpgradeOrder | undefined {
  const value = recordIn(text);
  const { id, version, sha256, timeoutSeconds } = value ?? {};
  if (typeof id !== 'string' || id === '' || typeof version !== 'string') return undefined;
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
  if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds >= 1 && timeoutSeconds <= 3600))
    return undefined;
  return { id, version, sha256, timeoutSeconds };
}

export function parseUpgradeResult(text: string | undefined): UpgradeResult | undefined {
  const { id, error } = recordIn(text) ?? {};
  return typeof id === 'string' && typeof error === 'string' ? { id, error } : undefined;
}

function recordIn(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
