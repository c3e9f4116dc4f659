/** The pulls of images that are under way, with what the engine says of their layers: in memory, for who asks. */
import { type LayerLine, type PullState, pullState } from './plan/pull-state.ts';

export class Pulls {
  readonly #underWay = new Map<number, { readonly image: string; readonly layers: Map<string, LayerLine> }>();
  #next = 0;

  /** A pull begins; `tell` takes what the engine says of it, `end` ends it. */
  begin(image: string): { readonly tell: (line: LayerLine) => void; readonly end: () => void } {
    const key = this.#next++;
    const layers = new Map<string, LayerLine>();
    this.#underWay.set(key, { image, layers });
    return {
      tell: (line) => {
        if (line.id !== undefined) layers.set(line.id, line);
      },
      end: () => void this.#underWay.delete(key),
    };
  }

  list(): readonly PullState[] {
    return [...this.#underWay.values()].map(({ image, layers }) => pullState(image, [...layers.values()]));
  }
}
