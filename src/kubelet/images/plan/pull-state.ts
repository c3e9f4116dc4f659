/** The progress of a pull, from the engine's last line for each layer. Pure. */

/** A line of the engine's progress stream. */
export interface LayerLine {
  /** Id of the layer. In the first line it is the image's tag instead. */
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

export interface PullState {
  readonly image: string;
  readonly layers: number;
  readonly doneLayers: number;
  /** Bytes of the layers that are being downloaded. */
  readonly totalBytes: number;
  readonly doneBytes: number;
}

/** Statuses of a layer that is complete. */
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
