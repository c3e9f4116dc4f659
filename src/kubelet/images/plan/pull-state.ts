/** How far a pull is, by what the engine said last of each layer. Pure. */

/** A line of the engine's progress stream. */
export interface LayerLine {
  /** Of the layer; of the first line it is the tag, which is no layer. */
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

export interface PullState {
  readonly image: string;
  readonly layers: number;
  readonly doneLayers: number;
  /** Of the layers that are being downloaded. */
  readonly totalBytes: number;
  readonly doneBytes: number;
}

/** What the engine says of a layer that needs nothing more. */
const done: ReadonlySet<string | undefined> = new Set(['Pull complete', 'Already exists']);

export function pullState(image: string, lines: readonly LayerLine[]): PullState {
  const layers = lines.filter(({ status = '' }) => !status.startsWith('Pulling from'));
  const loading = layers.filter(({ status }) => status === 'Downloading');
  const sum = (field: 'current' | 'total') =>
    loading.reduce((bytes, { progressDetail }) => bytes + (progressDetail?.[field] ?? 0), 0);
  return {
    image,
    layers: layers.length,
    doneLayers: layers.filter(({ status }) => done.has(status)).length,
    totalBytes: sum('total'),
    doneBytes: sum('current'),
  };
}
