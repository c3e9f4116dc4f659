/**
 * The image pulls in progress with the engine's progress lines of their layers, in memory, for clients that
 * request them.
 */
import { type LayerLine, type PullState, pullState } from './plan/pull-state.ts';

export class Pulls {
  readonly #underWay = new Map<number, { readonly image: string; readonly layers: Map<string, LayerLine> }>();
  #next = 0;

  /** Registers a pull; `record` records a progress line of the engine, `end` removes the pull. */
  begin(image: string): { readonly record: (line: LayerLine) => void; readonly end: () => void } {
    const key = this.#next++;
    const layers = new Map<string, LayerLine>();
    this.#underWay.set(key, { image, layers });
    return {
      record: (line) => {
        if (line.id !== undefined) layers.set(line.id, line);
      },
      end: () => void this.#underWay.delete(key),
    };
  }

  list(): readonly PullState[] {
    return [...this.#underWay.values()].map(({ image, layers }) => pullState(image, [...layers.values()]));
  }
}
