/** Curves of edges through points. Pure. */

type Point = readonly [x: number, y: number];

const coordinate = (value: number) => value.toFixed(1);
const text = ([x, y]: Point) => `${coordinate(x)} ${coordinate(y)}`;

/** Returns the middle of the first part of an edge: curves pass through the middle of each part. */
export function middleOf([first, second]: readonly Point[]): Point | undefined {
  return first && second && [(first[0] + second[0]) / 2, (first[1] + second[1]) / 2];
}

/** Returns the data of an SVG path through the points, whose curves leave and reach them in one direction. */
export function curve(points: readonly Point[], direction: 'right' | 'down'): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let before = first;
  const parts = rest.map((point) => {
    const [[ax, ay], [bx, by]] = [before, point];
    before = point;
    const [mx, my] = [(ax + bx) / 2, (ay + by) / 2];
    const [one, other]: [Point, Point] =
      direction === 'right'
        ? [
            [mx, ay],
            [mx, by],
          ]
        : [
            [ax, my],
            [bx, my],
          ];
    return `C${text(one)},${text(other)},${text(point)}`;
  });
  return `M${text(first)}${parts.join('')}`;
}
