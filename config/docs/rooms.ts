/** Writes docs/pictures/rooms.svg from the imports of the source (`npm run docs:rooms`). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsIn, sourceFiles } from '../../test/fixtures/imports.ts';
import { roomsPicture } from './rooms-picture.ts';

writeFileSync(
  join(import.meta.dirname, '../../docs/pictures/rooms.svg'),
  roomsPicture(importsIn(sourceFiles())),
);
