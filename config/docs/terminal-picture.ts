/**
 * A recorded terminal as an SVG: commands, and what each printed, appear one after the other. The animation
 * is CSS, so that the picture moves in an <img>; readers who prefer no motion see all lines at once. Pure.
 */

export interface Recorded {
  readonly command: string;
  /** Printed lines, without colors. */
  readonly output: readonly string[];
}

interface Line {
  readonly text: string;
  readonly isCommand: boolean;
  /** Seconds from the beginning at which the line appears. */
  readonly at: number;
}

const [characterWidth, lineHeight, margin, bar] = [7.25, 17, 14, 26];
/** Seconds in which a command is read, and in which each line of its output appears after the one before. */
const [commandSeconds, lineSeconds] = [1.4, 0.06];
const prompt = '$ ';

/** Returns the picture. `title` is its name for readers who cannot see it. */
export function terminalPicture(title: string, recorded: readonly Recorded[]): string {
  const lines = linesOf(recorded);
  const columns = Math.max(...lines.map(({ text }) => text.length));
  const width = Math.ceil(columns * characterWidth + 2 * margin);
  const height = bar + lines.length * lineHeight + margin;
  const rows = lines.map(({ text, isCommand, at }, index) => {
    const y = bar + (index + 1) * lineHeight - 4;
    const classes = isCommand ? 'l c' : 'l';
    return `<text class="${classes}" x="${margin}" y="${y}" style="animation-delay:${at.toFixed(2)}s">${escaped(text)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(title)}</title>`,
    '<style>',
    'text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d5dae1;white-space:pre}',
    '.c{fill:#7ee787;font-weight:bold}',
    '.l{animation:appear .01s linear both}@keyframes appear{from{opacity:0}to{opacity:1}}',
    '@media (prefers-reduced-motion:reduce){.l{animation:none}}',
    '</style>',
    `<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (color, index) => `<circle cx="${margin + 6 + index * 18}" cy="${bar / 2}" r="5" fill="${color}"/>`,
    ),
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

function linesOf(recorded: readonly Recorded[]): Line[] {
  let at = 0;
  return recorded.flatMap(({ command, output }) => {
    const begun = at;
    at += commandSeconds + output.length * lineSeconds;
    return [
      { text: prompt + command, isCommand: true, at: begun },
      ...output.map((text, index) => ({
        text,
        isCommand: false,
        at: begun + commandSeconds / 2 + index * lineSeconds,
      })),
    ];
  });
}

/** Returns the commands and lines of a picture that terminalPicture has made. */
export function recordedIn(picture: string): readonly Recorded[] {
  const recorded: { command: string; output: string[] }[] = [];
  for (const [, classes = '', text = ''] of picture.matchAll(/<text class="([^"]*)"[^>]*>(.*?)<\/text>/g)) {
    if (classes === 'l c') recorded.push({ command: plain(text).slice(prompt.length), output: [] });
    else recorded.at(-1)?.output.push(plain(text));
  }
  return recorded;
}

const entities = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
] as const;

const escaped = (text: string) =>
  entities.reduce((whole, [character, entity]) => whole.replaceAll(character, entity), text);
const plain = (text: string) =>
  entities.reduceRight((whole, [character, entity]) => whole.replaceAll(entity, character), text);
