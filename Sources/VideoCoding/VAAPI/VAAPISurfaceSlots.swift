#if VAAPI
    import CLibVA

    /// The surfaces of a display, each with a note of its content. A surface that is not used for long is destroyed.
    struct VAAPISurfaceSlots<Content> {
        struct Slot {
            let surface: VASurfaceID
            var content: Content
            fileprivate(set) var lastTurn: Int
        }

        var slots: [Slot] = []
        /// The number of the present use of some surfaces.
        private(set) var turn = 0
        private let patience: Int

        /// - Parameter patience: The turns after which a surface that was not used is let go.
        init(patience: Int) {
            self.patience = patience
        }

        /// Begins a turn, by default the next one.
        mutating func begin(turn: Int? = nil, _ display: VAAPIDisplay) {
            self.turn = turn ?? self.turn + 1
            var index = 0
            while index < slots.count {
                if slots[index].lastTurn < self.turn - patience {
                    destroy(at: index, display)
                } else {
                    index += 1
                }
            }
        }

        /// Takes down that a surface is used.
        mutating func use(at index: Int) -> VASurfaceID {
            slots[index].lastTurn = turn
            return slots[index].surface
        }

        /// The slot whose last use is the longest ago.
        var oldest: Int? { slots.indices.min { slots[$0].lastTurn < slots[$1].lastTurn } }

        mutating func add(_ surface: VASurfaceID, _ content: Content) {
            slots.append(Slot(surface: surface, content: content, lastTurn: turn))
        }

        mutating func destroy(at index: Int, _ display: VAAPIDisplay) {
            var surface = slots.remove(at: index).surface
            vaDestroySurfaces(display.handle, &surface, 1)
        }

        mutating func close(_ display: VAAPIDisplay) {
            while !slots.isEmpty { destroy(at: slots.count - 1, display) }
        }
    }
#endif
