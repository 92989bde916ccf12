// A bell is heard, at most three times for what came at once.

let audio;

export const ring = (times) => {
  audio ??= new AudioContext();
  for (let n = 0; n < Math.min(times, 3); n++) {
    const tone = audio.createOscillator();
    tone.frequency.value = 880;
    tone.connect(audio.destination);
    tone.start(audio.currentTime + n * 0.18);
    tone.stop(audio.currentTime + n * 0.18 + 0.1);
  }
};
