import { Ansis } from 'ansis';

/** Colours by meaning; every function returns its text unchanged when colour is off. */
export interface Paint {
  readonly strong: Colour;
  readonly faint: Colour;
  readonly good: Colour;
  readonly bad: Colour;
  readonly warning: Colour;
  readonly accent: Colour;
}

type Colour = (text: string) => string;

export function paintFor(color: boolean): Paint {
  const ansis = new Ansis(color ? 1 : 0);
  return {
    strong: (text) => ansis.bold(text),
    faint: (text) => ansis.dim(text),
    good: (text) => ansis.green(text),
    bad: (text) => ansis.red(text),
    warning: (text) => ansis.yellow(text),
    accent: (text) => ansis.cyan(text),
  };
}
